import assert from "node:assert/strict";

import { Client, credentials } from "@grpc/grpc-js";

import { arbitraryRequest, type KnownValues } from "../reference/arbitrary-request.ts";
import { type Description, descriptionOf } from "../reference/description.ts";
import { fill, known as knownFromStart } from "../reference/fuzz-scene.ts";
import type { Answer } from "../support/engines.ts";
import { startServing } from "../support/pemba.ts";
import { Findings } from "./findings.ts";
import { arbitraryCall, fuzzGrpc } from "./fuzz-grpc.ts";
import { fuzzRest } from "./fuzz-rest.ts";

/** What is sent to a server, and where its faults are told. */
export interface FuzzRun {
  readonly transports: readonly ("rest" | "grpc")[];
  readonly seed: number;
  /** To each transport. */
  readonly cases: number;
  readonly say: (text: string) => void;
}

/** So many cases are drawn at once, and then what was deleted is written again. */
const round = 250;

/** Fuzzes a server that is started with these flags; whether nothing was found. */
export async function fuzz(flags: readonly string[], run: FuzzRun): Promise<boolean> {
  const serving = startServing([...flags, "--service-watch-enabled", "--log-output", "json"]);
  const { url, grpc } = await serving.addresses;
  const client = new Client(grpc, credentials.createInsecure());
  const description = descriptionOf(await (await fetch(`${url}/openapi.json`)).text());
  const rest = { port: Number(new URL(url).port), description };
  const findings = new Findings();
  try {
    const known = await knownNow(url);
    for (const transport of run.transports) {
      const work =
        transport === "rest"
          ? restRound(rest, known, findings)
          : grpcRound(client, known, findings);
      let accepted = 0;
      for (let start = 0; start < run.cases; start += round) {
        await knownNow(url);
        const count = Math.min(round, run.cases - start);
        accepted += await work({ seed: run.seed + start, count });
      }
      run.say(`${transport}: ${run.cases} sent, ${accepted} accepted`);
    }
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
  } catch (error) {
    findings.add("the server", String(error));
  } finally {
    client.close();
    serving.process.kill("SIGTERM");
  }
  const { status, stdout, stderr } = await serving.finished;
  if (status !== 0) findings.add(`the process ended with ${status}`, stderr.slice(0, 2_000));
  for (const line of faultsLogged(stdout)) findings.add("the log", line.slice(0, 2_000));
  for (const line of findings.lines()) run.say(line);
  return findings.isEmpty;
}

type Round = (cases: { readonly seed: number; readonly count: number }) => Promise<number>;

/** What is drawn from is made once: it takes longer than a round. */
function restRound(
  rest: { readonly port: number; readonly description: Description },
  known: KnownValues,
  findings: Findings,
): Round {
  const arbitrary = arbitraryRequest(rest.description, known);
  return (cases) => fuzzRest(rest, arbitrary, cases, findings);
}

function grpcRound(client: Client, known: KnownValues, findings: Findings): Round {
  const arbitrary = arbitraryCall(known);
  return (cases) => fuzzGrpc(client, arbitrary, cases, findings);
}

/** Lines of the level `error` and above. */
function faultsLogged(log: string): readonly string[] {
  return log.split("\n").filter((line) => /"level":[56]0/.test(line));
}

/** Writes what the requests name, as far as it is gone, and adds tokens of the present. */
async function knownNow(url: string): Promise<KnownValues> {
  const post = async (path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    const parsed = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return {
      status: response.status,
      headers: {},
      body: parsed,
      message: textOf(parsed, "message"),
      text: (field) => textOf(parsed, field),
    };
  };
  await post("/v1/tenants/create", { id: "t1", name: "" });
  await fill({ post });
  const t1 = "/v1/tenants/t1";
  const metadata = {};
  const snapToken = (await post(`${t1}/data/write`, { metadata })).text("snap_token");
  const version = (await post(`${t1}/schemas/list`, {})).text("head");
  const page = { metadata, filter: {}, page_size: 1 };
  const token = (await post(`${t1}/data/relationships/read`, page)).text("continuous_token");
  return {
    ...knownFromStart,
    snap_token: ["", "", snapToken, snapToken, "AAAA"],
    schema_version: ["", "", version, version, "0".repeat(20)],
    continuous_token: ["", "", token, "AAAA"],
  };
}

function textOf(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field];
  return typeof value === "string" ? value : "";
}
