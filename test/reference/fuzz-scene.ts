import assert from "node:assert/strict";

import type { TenantId } from "../../src/base/tuple.ts";
import { stateAt } from "../store/state.ts";
import type { TestApp } from "../support/engines.ts";
import { caseCount } from "../support/run-length.ts";
import type { FuzzRequest, KnownValues } from "./arbitrary-request.ts";

/** What random requests are about, and how many are sent. */

export const numRuns = caseCount({ short: 120, long: 2_000 });

/** Of a run, in milliseconds: a long one may take its time. */
export const timeout = Math.max(240_000, numRuns * 200);

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity document {
    relation viewer @user @group#member
    relation parent @document
    attribute public boolean
    attribute age integer
    permission view = viewer or public or parent.view
    permission peek = recent(age) and view
  }
  rule recent(age integer) { age < context.data.limit }
`;

const names = ["document", "document", "group", "user", "viewer", "member", "view", "peek"];
const ada = { type: "user", id: "ada" };
const bob = { type: "user", id: "bob", relation: "" };
const engineers = { type: "group", id: "engineers" };
const members = { ...engineers, relation: "member" };
const plan = { type: "document", id: "plan" };
const news = { type: "document", id: "news" };
const tuples = [
  { entity: engineers, relation: "member", subject: ada },
  { entity: engineers, relation: "member", subject: bob },
  { entity: plan, relation: "viewer", subject: members },
  { entity: news, relation: "parent", subject: plan },
];
const attributes = [
  { entity: news, attribute: "public", value: valueOf("BooleanValue", true) },
  { entity: plan, attribute: "age", value: valueOf("IntegerValue", 3) },
];

/** So that most requests find what they name. */
export const known: KnownValues = {
  tenant_id: [...Array.from({ length: 20 }, () => "t1"), "made", "missing"],
  id: ["made", "made-too", "ada", "plan"],
  ids: ["ada", "engineers", "plan", "*"],
  data: ["plan", "news"],
  Entity: [plan, plan, news, engineers],
  Subject: [ada, ada, bob, members],
  Tuple: tuples,
  Attribute: attributes,
  type: names,
  entity_type: ["document", "group"],
  permission: names.slice(4),
  relation: ["viewer", "member", "parent", ""],
  attribute: ["public", "age"],
  attributes: ["public", "age"],
  name: ["hire", "fire", "age"],
  cluster: ["", "", "east"],
  arguments: ["who"],
  schema: [schema, schema, schema, "entity user {}", "entity {", ""],
  snap_token: ["", "", "", "", "AAAA"],
  schema_version: ["", "", "", "", "00000000000000000000"],
  continuous_token: ["", "", "", "", "AAAA"],
  relationships_write: ["document:plan#viewer@user:{{.who}}", "document:plan#viewer@user:eve"],
  relationships_delete: ["document:plan#viewer@user:{{.who}}", "{{.who}}"],
  attributes_write: ["document:plan$public|boolean:true", "document:plan$age|integer:{{.who}}"],
  attributes_delete: ["document:plan$public|boolean:true"],
  write_permissions: ["see = viewer", "permission view = viewer"],
  write: ["permission see = viewer", "relation owner @user"],
  update: ["permission view = viewer or public", "attribute age integer"],
  delete: ["see", "owner"],
  "partials keys": ["document", "group", "__proto__"],
  "scope keys": ["document", "group", "__proto__"],
  "arguments keys": ["who"],
  "data keys": ["limit"],
};

/** Writes the schema and the data into tenant `t1`. */
export async function fill(app: Pick<TestApp, "post">): Promise<void> {
  const path = "/v1/tenants/t1";
  assert.equal((await app.post(`${path}/schemas/write`, { schema })).status, 200);
  const written = await app.post(`${path}/data/write`, { metadata: {}, tuples, attributes });
  assert.equal(written.status, 200, written.message);
}

/** Whether a request could change what is stored: of the others there is no need to look. */
export function mayChange({ operation, method }: FuzzRequest): boolean {
  const isChange = /^(activate|change|create|place|delete|write|partialWrite|run)[A-Z]/.test(
    operation.id,
  );
  return isChange || method === "DELETE";
}

/** What a refused request must leave as it was. */
export async function storedIn(app: TestApp): Promise<string> {
  const { tenants, schemas } = app.store;
  const t1 = "t1" as TenantId;
  return JSON.stringify([
    await tenants.list({ after: undefined, limit: 10_000 }),
    await schemas.list(t1, { before: undefined, limit: 10_000 }),
    await stateAt(app.store, t1, undefined),
    (await app.post("/v1/tenants/t1/bundle/read", { name: "hire" })).body,
  ]);
}

function valueOf(type: string, data: unknown): object {
  return { "@type": `type.googleapis.com/base.v1.${type}`, data };
}
