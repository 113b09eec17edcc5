import { Agent, request } from "node:http";

import { Permission, CheckResult } from "../src/gen/base/v1/permission_pb.ts";
import { connectGrpc, type GrpcClient } from "../test/support/grpc.ts";
import { startServing } from "../test/support/pemba.ts";
import type { Dataset, Question, QuestionClass } from "./data/dataset.ts";
import { type Ask, askEach, measure, type Measurement, medianOf } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { benchTenant } from "./store.ts";

export interface TransportsOptions {
  readonly runs: number;
  readonly seconds: number;
  /** Checks in flight. */
  readonly callers: readonly number[];
  readonly keep: boolean;
}

export interface TransportsResult {
  readonly questions: string;
  readonly callers: number;
  readonly rest: Measurement;
  readonly grpc: Measurement;
  /** Of the throughputs: gRPC to REST. */
  readonly ratio: number;
}

/** Measures checks over REST and over gRPC in turn, against one `pemba serve` on Postgres. */
export async function benchTransports(
  server: BenchServer,
  dataset: Dataset,
  options: TransportsOptions,
  print: (line: string) => void,
): Promise<readonly TransportsResult[]> {
  const database = await loadDatabase(server, dataset, print);
  const serving = startServing([], {
    env: {
      SERVICE_DATABASE_ENGINE: "postgres",
      SERVICE_DATABASE_URI: database.url,
      SERVICE_DATABASE_AUTO_MIGRATE: "false",
    },
  });
  try {
    const { url, grpc } = await serving.addresses;
    const results: TransportsResult[] = [];
    for (const callers of options.callers) {
      const agent = new Agent({ keepAlive: true, maxSockets: callers });
      const client = connectGrpc(grpc);
      const asks = { rest: overRest(url, agent), grpc: overGrpc(client) };
      for (const questions of dataset.classes) {
        results.push(await compare(asks, questions, callers, options));
      }
      agent.destroy();
      client.close();
    }
    print(`\n${table(results)}`);
    return results;
  } finally {
    serving.process.kill("SIGTERM");
    await serving.finished;
    if (!options.keep) await database.drop();
  }
}

async function compare(
  asks: { readonly rest: Ask; readonly grpc: Ask },
  { name, questions }: QuestionClass,
  callers: number,
  { runs, seconds }: TransportsOptions,
): Promise<TransportsResult> {
  const measured: { readonly rest: Measurement[]; readonly grpc: Measurement[] } = {
    rest: [],
    grpc: [],
  };
  for (const ask of [asks.rest, asks.grpc]) await askEach(ask, questions.slice(0, 50));
  for (let run = 0; run < runs; run++) {
    const order = run % 2 === 0 ? (["rest", "grpc"] as const) : (["grpc", "rest"] as const);
    for (const transport of order) {
      const load = { inFlight: callers, seconds };
      measured[transport].push(await measure(asks[transport], questions, load));
    }
  }
  const rest = medianOf(measured.rest);
  const grpc = medianOf(measured.grpc);
  return { questions: name, callers, rest, grpc, ratio: grpc.perSecond / rest.perSecond };
}

function overRest(url: string, agent: Agent): Ask {
  const path = `${url}/v1/tenants/${benchTenant}/permissions/check`;
  return async ({ entity, permission, user }: Question) => {
    const body = { metadata: {}, entity, permission, subject: { type: "user", id: user } };
    const answer = await post(path, agent, JSON.stringify(body));
    return answer.includes('"RESULT_ALLOWED"');
  };
}

async function post(path: string, agent: Agent, body: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const call = request(path, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("error", reject);
      response.on("end", () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(text)),
      );
    });
    call.on("error", reject);
    call.end(body);
  });
}

function overGrpc(client: GrpcClient): Ask {
  return async ({ entity, permission, user }: Question) => {
    const { can } = await client.call(Permission.method.check, {
      tenantId: benchTenant,
      metadata: {},
      entity,
      permission,
      subject: { type: "user", id: user },
    });
    return can === CheckResult.ALLOWED;
  };
}

function table(results: readonly TransportsResult[]): string {
  const half = (rate: string) => [rate, "p50 ms", "p95", "p99"];
  const cells = ({ perSecond, p50, p95, p99 }: Measurement) => [perSecond, p50, p95, p99];
  return formatTable(
    ["questions", "callers", ...half("rest/s"), ...half("grpc/s"), "grpc/rest"],
    results.map(({ questions, callers, rest, grpc, ratio }) => [
      questions,
      String(callers),
      ...[...cells(rest), ...cells(grpc), ratio].map(figure),
    ]),
  );
}
