import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import postgres from "postgres";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { connectGrpc } from "../support/grpc.ts";
import { openLine } from "../support/line.ts";
import { servePemba } from "../support/pemba.ts";
import { openStream } from "../support/text-stream.ts";

/** Stands in everything that no line of the log may have. */
const mark = "s3cr3t";

const schema = `
entity user {}
entity document {
  relation owner @user
  attribute note string
  permission view = owner or is_noted(note)
}
rule is_noted(note string) { note == "${mark}-rule" }
`;

const entity = { type: "document", id: `${mark}-document` };
const subject = { type: "user", id: `${mark}-user` };
const tuple = { entity, relation: "owner", subject };
const value = { "@type": "type.googleapis.com/base.v1.StringValue", data: `${mark}-note` };

/** Bodies that are fine, wrong in a value, and no JSON, for paths of a tenant. */
const bodies: readonly (readonly [path: string, ...bodies: readonly unknown[]])[] = [
  ["schemas/write", { schema }, { schema: `entity ${mark} {` }, { schema: `${mark} ""` }],
  ["schemas/partial-write", { partials: { [mark]: { write: [`relation ${mark}`] } } }],
  [
    "data/write",
    { metadata: {}, tuples: [tuple], attributes: [{ entity, attribute: "note", value }] },
    { metadata: {}, tuples: [{ ...tuple, relation: mark }] },
    { metadata: {}, tuples: [{ ...tuple, entity: { type: `${mark}!`, id: 7 } }] },
  ],
  ["data/relationships/read", { metadata: { snap_token: mark }, filter: {} }],
  ["data/relationships/read", { metadata: {}, filter: {}, continuous_token: mark }],
  [
    "permissions/check",
    { metadata: {}, entity, permission: "view", subject },
    { metadata: { snap_token: `${mark}-token` }, entity, permission: "view", subject },
    { metadata: {}, entity, permission: mark, subject },
    { metadata: {}, entity, permission: "view", subject, context: { data: { x: mark } } },
  ],
  ["permissions/expand", { metadata: {}, entity, permission: "view" }],
  [
    "permissions/lookup-entity",
    { metadata: {}, entity_type: "document", permission: "view", subject },
    { metadata: {}, entity_type: "document", permission: "view", subject, continuous_token: mark },
  ],
  [mark, {}],
];

test("no line of the log has a secret, a token or a value of a request, at any level", async (t) => {
  const database = await createMigratedDatabase();
  t.after(database.drop);
  const line = await openLine(t, database.url);
  const uri = new URL(line.url);
  // A server that asks for none takes any.
  uri.password ||= `${mark}-password`;
  const env = {
    SERVICE_LOG_LEVEL: "debug",
    SERVICE_LOG_OUTPUT: "json",
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_URI: uri.href,
    SERVICE_AUTHN_ENABLED: "true",
    SERVICE_AUTHN_METHOD: "preshared",
    SERVICE_AUTHN_PRESHARED_KEYS: `${mark}-key`,
    SERVICE_AUTHN_PRESHARED_SCOPED: JSON.stringify([
      { name: "reader", key: `${mark}-reader`, scopes: ["read"], tenants: ["t1"] },
    ]),
  };
  const words = ["--service-watch-enabled", "--database-max-retries", "0"];
  const serving = await servePemba(t, words, { env });
  const { url, grpc } = serving;

  const tokens = new Set<string>();
  const authorization = `Bearer ${mark}-key`;
  const post = async (path: string, body: unknown, header = authorization): Promise<string> => {
    const response = await fetch(`${url}/v1/tenants/t1/${path}`, {
      method: "POST",
      headers: { authorization: header, "x-request-id": "named-by-the-client" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    for (const [, token = ""] of text.matchAll(/_token":"([^"]+)"/g)) tokens.add(token);
    return text;
  };
  const client = connectGrpc(grpc, { authorization });
  const stranger = connectGrpc(grpc, { authorization: `Bearer ${mark}-wrong` });
  t.after(() => [client, stranger].forEach((one) => one.close()));

  const askEverything = async (): Promise<void> => {
    for (const [path, ...given] of bodies) {
      for (const body of [...given, `{"${mark}`, `"${mark}"`]) await post(path, body);
      await post(path, given[0], `Bearer ${mark}-wrong`);
      await post(path, given[0], `Bearer ${mark}-reader`);
      await post(path, given[0], `Basic ${mark}`);
    }
    const question = { tenantId: "t1", metadata: {}, entity, permission: "view", subject };
    for (const caller of [client, stranger]) {
      await Promise.allSettled([
        caller.call(Permission.method.check, question),
        caller.call(Permission.method.check, { ...question, metadata: { snapToken: mark } }),
        caller.call(Schema.method.write, { tenantId: "t1", schema: `entity ${mark}` }),
        caller.call(Data.method.write, { tenantId: "t1", metadata: {}, tuples: [tuple] }),
      ]);
    }
  };
  await askEverything();
  const check = { metadata: {}, entity, permission: "view", subject };
  assert.match(await post("permissions/check", check), /RESULT_ALLOWED/);
  for (let nth = 0; nth < 3; nth++) {
    await post("data/write", {
      metadata: {},
      tuples: [{ ...tuple, entity: { ...entity, id: `d${nth}` } }],
    });
  }
  const page = { metadata: {}, entity_type: "document", permission: "view", subject, page_size: 1 };
  assert.match(await post("permissions/lookup-entity", page), /"continuous_token":"[^"]+"/);

  const [token = ""] = tokens;
  for (const query of ["", `?snap_token=${token}`, `?snap_token=${mark}`]) {
    const stream = await openStream(`${url}/v1/tenants/t1/watch${query}`, {
      headers: { authorization, "last-event-id": `${mark}-event`, accept: "text/event-stream" },
    });
    stream.leave();
  }

  // A fault of ours: the database refuses a row, and tells all of it.
  const sql = postgres(database.url, { max: 1 });
  await sql`alter table relationships add constraint odd check (entity_id <> ${sql.unsafe(`'${mark}-fault'`)})`;
  await sql.end();
  const faulty = { ...tuple, entity: { ...entity, id: `${mark}-fault` } };
  assert.match(await post("data/write", { metadata: {}, tuples: [faulty] }), /"code":13/);

  await line.cut();
  await askEverything();
  await line.mend();
  while (!(await post("permissions/check", check)).includes("RESULT_ALLOWED")) await wait(20);

  serving.process.kill("SIGTERM");
  const { status, stdout, stderr } = await serving.finished;
  assert.equal(status, 0);
  const lines = (stdout + stderr).split("\n");
  assert.ok(tokens.size > 3 && lines.length > 50);
  const reqId = '"reqId":"named-by-the-client"';
  assert.ok(stdout.includes(`${reqId},"caller":"authn.preshared.keys[0]","code":"UNAVAILABLE"`));
  assert.match(stdout, /"caller":"reader".*"status":403/);
  assert.match(stdout, /violates check constraint \\"odd\\"/);
  const secrets = [mark, `:${uri.password}@`, ...tokens];
  const leaks = lines.filter((one) => secrets.some((secret) => one.includes(secret)));
  assert.deepEqual(leaks, []);
});
