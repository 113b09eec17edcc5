import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

import type { ErrorCode } from "../../src/base/error.ts";
import { type ApiClient, objectOf, type Outcome } from "./client.ts";
import type { OperationName } from "./operations.ts";
import { schemaOutline, textOf } from "./rest-form.ts";

/** What a scenario does: each call is written down with what became of it. */
export interface Caller {
  /** A tenant of this run's own, which exists from the start. */
  readonly tenant: string;
  /** The body of the answer; fails when there is none. */
  readonly get: (name: OperationName, request: JsonObject, tenant?: string) => Promise<JsonObject>;
  /** The answers of a stream, to its end or so many. */
  readonly stream: (
    name: OperationName,
    request: JsonObject,
    count?: number,
  ) => Promise<readonly JsonValue[]>;
  /** The call must end with the error. */
  readonly fails: (
    code: ErrorCode,
    name: OperationName,
    request: JsonObject,
    tenant?: string,
  ) => Promise<void>;
}

/** One line of a transcript, without what differs from run to run. */
export interface Line {
  readonly operation: OperationName;
  readonly outcome: Outcome;
}

export type Scenario = (caller: Caller) => Promise<void>;

/** Runs a scenario over a transport, for a tenant that is made for it and deleted afterwards. */
export async function transcriptOf(
  client: ApiClient,
  scenario: Scenario,
  tenant = `t-${randomUUID()}`,
): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const names = new Map([[tenant, "<tenant>"]]);
  const call = async (
    operation: OperationName,
    request: JsonObject,
    of: string,
    count?: number,
  ): Promise<Outcome> => {
    const outcome = await client.call(operation, of, request, count);
    lines.push({ operation, outcome: normalised(operation, outcome, names) });
    return outcome;
  };
  const answer = async (
    operation: OperationName,
    request: JsonObject,
    of: string,
    count?: number,
  ): Promise<JsonValue> => {
    const outcome = await call(operation, request, of, count);
    assert.ok(outcome.kind === "answer", `${operation}: ${JSON.stringify(outcome)}`);
    return outcome.body;
  };
  await answer("tenant create", { id: tenant, name: "a name" }, "");
  await scenario({
    tenant,
    get: async (name, request, of = tenant) => objectOf(await answer(name, request, of)),
    stream: async (name, request, count) => {
      const body = await answer(name, request, tenant, count);
      assert.ok(Array.isArray(body));
      return body;
    },
    fails: async (code, name, request, of = tenant) => {
      const outcome = await call(name, request, of);
      assert.ok(outcome.kind === "error", `${name}: ${JSON.stringify(outcome)}`);
      assert.ok(outcome.message.startsWith(`ERROR_CODE_${code}: `), outcome.message);
    },
  });
  await answer("tenant delete", {}, tenant);
  return lines;
}

/** Two transcripts of a scenario, with where each was made, have the same lines. */
export function assertAlike(
  [place, lines]: readonly [string, readonly Line[]],
  [other, otherLines]: readonly [string, readonly Line[]],
): void {
  for (const [index, line] of lines.entries()) {
    assert.deepEqual(otherLines[index], line, `${other} does not answer as ${place} does`);
  }
  assert.equal(otherLines.length, lines.length, other);
}

function normalised(
  operation: OperationName,
  outcome: Outcome,
  names: Map<string, string>,
): Outcome {
  if (outcome.kind === "error") {
    return { ...outcome, message: withoutClusters(renamed(outcome.message, names)) };
  }
  const body = comparable(operation, outcome.body, names);
  return { kind: "answer", body: normalisedValue(body, "", names) };
}

function comparable(
  operation: OperationName,
  body: JsonValue,
  names: ReadonlyMap<string, string>,
): JsonValue {
  if (operation === "schema read") return schemaOutline(objectOf(body));
  if (operation !== "tenant list" && operation !== "tenant list placed") return body;
  const { tenants, ...page } = objectOf(body);
  assert.ok(Array.isArray(tenants));
  // There are those of other tests as well.
  const own = tenants.filter((one) => renamed(textOf(objectOf(one)["id"]), names).startsWith("<"));
  return { ...page, tenants: own };
}

function normalisedValue(value: JsonValue, key: string, names: Map<string, string>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => normalisedValue(item, key, names));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, normalisedValue(part, name, names)]),
    );
  }
  switch (key) {
    case "snap_token":
    case "continuous_token":
      return value === "" ? "" : `<${key}>`;
    case "schema_version":
    case "head":
    case "version":
      return value === "" ? "" : versionName(String(value), names);
    case "created_at":
      assert.match(String(value), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
      return "<time>";
    case "cluster":
      // Only an engine with clusters has one to name.
      assert.match(String(value), /^[abc]?$/);
      return "<cluster>";
    case "check_count":
      // How many nodes are looked at until the answer is known is for each engine to say.
      assert.ok(typeof value === "number" && value >= 1);
      return "<count>";
    default:
      return typeof value === "string" ? renamed(value, names) : value;
  }
}

/** Why a name is not one of a cluster is another thing where there are none. */
function withoutClusters(message: string): string {
  return message.replace(
    /(?<=^ERROR_CODE_VALIDATION: cluster: )(`here` is none of the clusters .*|is given, expected none since the server has no clusters)$/,
    "<reason>",
  );
}

function versionName(version: string, names: Map<string, string>): string {
  assert.match(version, /^[0-9a-v]{20}$/);
  const known = names.get(version) ?? `<version ${names.size}>`;
  names.set(version, known);
  return known;
}

function renamed(text: string, names: ReadonlyMap<string, string>): string {
  return [...names].reduce((left, [name, shown]) => left.replaceAll(name, shown), text);
}
