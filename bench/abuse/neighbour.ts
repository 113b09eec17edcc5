import { Pool } from "undici";

import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { connectGrpc } from "../../test/support/grpc.ts";
import { startSteady, type Steady } from "../bounds/steady.ts";
import { reasonIn } from "./connections.ts";
import { type AbuseTarget, grpcCheck, sceneCheck, sceneSchema, sceneTuples } from "./requests.ts";

/** A tenant that asks what everybody asks, over both transports in turn. */
export interface Neighbour {
  /** Twenty checks a second from now on. */
  readonly ask: () => Steady;
  /** Why some have failed, by text. */
  readonly failures: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

const everyMs = 50;
/** Asked before anything is measured, so that all is compiled. */
const warmUpCount = 400;

/** Writes the schema and the tuples under the tenant of the target. */
export async function writeScene({ url, tenant }: AbuseTarget): Promise<void> {
  const rest = new Pool(url);
  const post = async (path: string, body: object): Promise<void> => {
    const { statusCode, body: answer } = await rest.request({
      method: "POST",
      path,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (statusCode !== 200) throw new Error(`${statusCode} of ${path}: ${text}`);
  };
  await post("/v1/tenants/create", { id: tenant, name: tenant });
  await post(`/v1/tenants/${tenant}/schemas/write`, { schema: sceneSchema });
  await post(`/v1/tenants/${tenant}/data/write`, { metadata: {}, tuples: sceneTuples });
  await rest.close();
}

export async function openNeighbour(target: AbuseTarget): Promise<Neighbour> {
  const rest = new Pool(target.url, { connections: 16 });
  const grpc = connectGrpc(target.grpc);
  const failures = new Map<string, number>();
  const body = JSON.stringify(sceneCheck);
  const overRest = async (signal: AbortSignal): Promise<boolean> => {
    const path = `/v1/tenants/${target.tenant}/permissions/check`;
    const answer = await rest.request({ method: "POST", path, body, signal });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${reasonIn(text)}`);
    return text.includes("RESULT_ALLOWED");
  };
  const overGrpc = async (signal: AbortSignal): Promise<boolean> => {
    const { can } = await grpc.call(Permission.method.check, grpcCheck(target.tenant), { signal });
    return can === CheckResult.ALLOWED;
  };
  let asked = 0;
  const ask = async (signal: AbortSignal): Promise<void> => {
    const way = asked++ % 2 === 0 ? overRest : overGrpc;
    try {
      if (!(await way(signal))) throw new Error("a wrong answer");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      failures.set(why, (failures.get(why) ?? 0) + 1);
      throw error;
    }
  };
  for (let nth = 0; nth < warmUpCount; nth++) await ask(new AbortController().signal);
  return {
    ask: () => startSteady(everyMs, ask),
    failures,
    close: async () => {
      await rest.destroy();
      grpc.close();
    },
  };
}
