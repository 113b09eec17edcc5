/** What a server has for each cluster, so that nothing of one waits for another one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { pino } from "pino";

import { openStore } from "../../src/cli/open-store.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/pemba/v1/tenancy_pb.ts";
import { tenantWithSchema } from "../store/engines.ts";
import { connect, until, untilWaiting } from "../store/open-write.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { configOf } from "../support/given-config.ts";
import { connectGrpc, type GrpcClient } from "../support/grpc.ts";
import { openLine } from "../support/line.ts";
import { serveHere } from "../support/serve-here.ts";
import { observed } from "../telemetry/observed.ts";

const schema = `
  entity user {}
  entity doc {
    relation viewer @user
    permission view = viewer
  }`;

let a: TestDatabase;
let b: TestDatabase;

before(async () => {
  [a, b] = [await createMigratedDatabase(), await createMigratedDatabase()];
});

after(async () => {
  await a.drop();
  await b.drop();
});

/** The flags of a server with both clusters. */
function flagsOf(uris: { readonly reader?: string } = {}): readonly string[] {
  const clusters = [
    { name: "a", uri: a.url },
    { name: "b", uri: b.url, ...uris },
  ];
  return ["--database-engine=postgres", `--database-clusters=${JSON.stringify(clusters)}`];
}

let made = 0;

async function tenantOn(client: GrpcClient, cluster: string): Promise<string> {
  const id = `on-${cluster}-${made++}`;
  await client.call(Tenancy.method.create, { id, name: "", cluster });
  await client.call(Schema.method.write, { tenantId: id, schema });
  return id;
}

async function mayView(client: GrpcClient, tenantId: string): Promise<boolean> {
  const { can } = await client.call(Permission.method.check, {
    tenantId,
    metadata: { depth: 20 },
    entity: { type: "doc", id: "1" },
    permission: "view",
    subject: { type: "user", id: "ann" },
  });
  return can === CheckResult.ALLOWED;
}

async function write(client: GrpcClient, tenantId: string): Promise<string> {
  const entity = { type: "doc", id: "1" };
  const tuples = [{ entity, relation: "viewer", subject: { type: "user", id: "ann" } }];
  return (await client.call(Data.method.write, { tenantId, metadata: {}, tuples })).snapToken;
}

test("connections, queues and limits of a cluster that is stuck are none of another one's", async (t) => {
  const limits = ["--database-max-connections=2", "--service-permission-concurrency-limit=2"];
  const { grpc } = await serveHere(t, [...flagsOf(), ...limits]);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const [near, far] = [await tenantOn(client, "a"), await tenantOn(client, "b")];
  await write(client, near);
  const sql = connect(b.url, 2);
  t.after(async () => await sql.end({ timeout: 1 }));
  const { stuck: asked } = await sql.begin(async (open) => {
    await open`lock table relationships in access exclusive mode`;
    // Far more than run, and than wait.
    const stuck = Array.from({ length: 60 }, async () => {
      await Promise.allSettled([mayView(client, far), write(client, far)]);
    });
    await untilWaiting(sql, 2);
    assert.equal(await mayView(client, near), true);
    await write(client, near);
    // A list would be awaited before the lock is given up.
    return { stuck };
  });
  await Promise.all(asked);
  assert.equal(await mayView(client, far), true);
});

test("history is removed on one cluster while another one is silent", async (t) => {
  const line = await openLine(t, b.url);
  const clusters = [
    { name: "a", uri: a.url },
    { name: "b", uri: line.url },
  ];
  const { grpc } = await serveHere(t, [
    "--database-engine=postgres",
    `--database-clusters=${JSON.stringify(clusters)}`,
    "--database-garbage-collection-enabled",
    "--database-garbage-collection-interval=10ms",
    "--database-garbage-collection-window=1ms",
  ]);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const near = await tenantOn(client, "a");
  line.silence("all");
  await write(client, near);
  const sql = connect(a.url, 1);
  t.after(async () => await sql.end({ timeout: 1 }));
  await until(async () => {
    const rows = await sql`
      select from changes
      join tenants on tenants.number = changes.tenant
      where tenants.id = ${near}`;
    // It is gone once it is old and no transaction needs it.
    return rows.length === 0 ? true : undefined;
  });
  await line.cut();
  await line.mend();
});

test("questions go to the standbys of the cluster of their tenant", async (t) => {
  const line = await openLine(t, b.url);
  const reader = `${line.url}?application_name=pemba-reader`;
  const { grpc } = await serveHere(t, flagsOf({ reader }));
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const [near, far] = [await tenantOn(client, "a"), await tenantOn(client, "b")];
  await write(client, near);
  await write(client, far);
  for (const tenant of [near, far]) assert.equal(await mayView(client, tenant), true);
  assert.ok(line.connections() > 0);
  await line.cut();
  assert.equal(await mayView(client, near), true);
  // Its primary answers in their place.
  assert.equal(await mayView(client, far), true);
  await line.mend();
});

test("measures and spans say which cluster they are of", async (t) => {
  const { telemetry, collector, scrapeUrl, flush } = await observed(t);
  const observation = { logger: pino({ level: "silent" }), telemetry };
  const store = await openStore(configOf({ args: flagsOf() }), observation, t.signal);
  const work = async (): Promise<void> => {
    for (const cluster of ["a", "b"]) await tenantWithSchema(store, cluster);
  };
  const head = { transport: "rest", traceparent: undefined, tracestate: undefined } as const;
  const record = telemetry.begin({ ...head, method: "test" });
  await record.run(work);
  record.end("OK");
  const text = await (await fetch(scrapeUrl)).text();
  for (const cluster of ["a", "b"]) {
    assert.match(text, new RegExp(`db_client_connection_count\\{[^}]*cluster="${cluster}"`));
    assert.match(
      text,
      new RegExp(`db_client_operation_duration_seconds_count\\{[^}]*cluster="${cluster}"`),
    );
  }
  await store.close();
  await flush();
  const clusters = new Set(collector.spans.map(({ attributes }) => attributes["pemba.cluster"]));
  assert.ok(clusters.has("a") && clusters.has("b"), [...clusters].join(" "));
});
