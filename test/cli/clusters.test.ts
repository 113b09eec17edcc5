/** A store over `database.clusters`, as a server opens it, with clusters that do not answer. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { pino } from "pino";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { openStore } from "../../src/cli/open-store.ts";
import { fails, newTenant, tenantId, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { configOf } from "../support/given-config.ts";
import type { Line } from "../support/line.ts";
import { clustersOf, mayView, refused, tenantWithDocument, untilServed } from "./clusters-scene.ts";
import { readAll } from "./configured-store.ts";

test("tenants are on the clusters of `database.clusters`, and in the list of all", async (t) => {
  const store = await (await clustersOf(t)).open();
  const ids = [await tenantWithDocument(store, "a"), await tenantWithDocument(store, "b")];
  for (const id of ids) assert.ok(await mayView(store, id));
  const { items } = await store.tenants.list({ after: undefined, limit: 10 });
  assert.deepEqual(
    items.map(({ id, cluster }) => `${id} ${cluster}`),
    [`${ids[0]} a`, `${ids[1]} b`, "t1 a"].toSorted(),
  );
});

test("a database of one of several clusters is not served alone once tenants are on another one", async (t) => {
  const { urls, open } = await clustersOf(t);
  const alone = async (url: string): Promise<void> => {
    const config = configOf({ args: ["--database-engine=postgres", `--database-uri=${url}`] });
    const observation = { logger: pino({ level: "silent" }), telemetry: noTelemetry };
    await (await openStore(config, observation, t.signal)).close();
  };
  const store = await open();
  await newTenant(store, "a");
  // The way back to one database, and the way there.
  await alone(urls.a);
  await fails(
    alone(urls.b),
    "INVALID_ARGUMENT",
    "database.uri: is the database of the cluster `b`",
  );
  const far = await newTenant(store, "b");
  await fails(
    alone(urls.a),
    "INVALID_ARGUMENT",
    "database.uri: is the database of the cluster `a`",
  );
  await store.tenants.delete(far);
  await alone(urls.a);
});

test("the start waits for the cluster of `database.directory`", async (t) => {
  const { lines, open } = await clustersOf(t);
  await lines.b.cut();
  await fails(open("--database-directory=b"), "UNAVAILABLE");
  await lines.b.mend();
  const store = await open("--database-directory=b");
  const { items } = await store.tenants.list({ after: undefined, limit: 10 });
  assert.deepEqual(
    items.map(({ id, cluster }) => `${id} ${cluster}`),
    ["t1 b"],
  );
});

for (const [fault, breakLine] of [
  ["down", async (line: Line) => await line.cut()],
  ["silent", async (line: Line) => await Promise.resolve(line.silence("all"))],
] as const) {
  test(`a server starts while a cluster is ${fault}, and serves its tenants once it answers`, async (t) => {
    const { lines, open } = await clustersOf(t);
    const before = await open();
    const [near, far] = [
      await tenantWithDocument(before, "a"),
      await tenantWithDocument(before, "b"),
    ];
    await breakLine(lines.b);
    const store = await open();
    assert.ok(await mayView(store, near));
    await fails(mayView(store, far), "UNAVAILABLE", "has not answered since the start");
    const { items } = await store.tenants.list({ after: undefined, limit: 10 });
    assert.ok(items.some(({ id }) => id === far));
    await store.ping();
    await lines.b.cut();
    await lines.b.mend();
    assert.ok(await untilServed(store, far));
  });
}

test("while a cluster is silent, others go on, and its tenants are refused in time", async (t) => {
  const { lines, open } = await clustersOf(t);
  const store = await open("--service-watch-enabled");
  const [near, far] = [await tenantWithDocument(store, "a"), await tenantWithDocument(store, "b")];
  const ending = new AbortController();
  t.after(() => ending.abort());
  const follow = { after: undefined, signal: ending.signal };
  const watched = await store.changes.follow(near, follow);
  lines.b.silence("all");
  const outage = Promise.all(
    Array.from({ length: 50 }, async () => await refused(readAll(store, far))),
  );
  assert.ok(await mayView(store, near));
  await write(store, near, { tuples: ["doc:2#owner@user:1"] });
  for await (const { changes } of watched.messages) {
    const [change] = changes;
    if (change === undefined) continue;
    assert.ok(change.kind === "tuple");
    assert.equal(change.tuple.entity.id, "2");
    break;
  }
  await newTenant(store, "a");
  await outage;
  await refused(write(store, far, { tuples: ["doc:2#owner@user:1"] }));
  await lines.b.cut();
  await lines.b.mend();
  assert.ok(await untilServed(store, far));
});

test("while the directory's cluster is down, the tenants of others that were asked for go on", async (t) => {
  const { lines, open } = await clustersOf(t);
  const store = await open();
  const [near, far] = [await tenantWithDocument(store, "a"), await tenantWithDocument(store, "b")];
  const unknown = await tenantWithDocument(await open(), "b");
  await lines.a.cut();
  assert.ok(await mayView(store, far));
  await write(store, far, { tuples: ["doc:2#owner@user:1"] });
  await Promise.all([
    refused(mayView(store, near)),
    refused(mayView(store, unknown)),
    refused(store.tenants.list({ after: undefined, limit: 10 })),
    refused(newTenant(store, "b")),
  ]);
  await store.ping();
  await lines.a.mend();
  for (const tenant of [near, unknown]) assert.ok(await untilServed(store, tenant));
});

test("new tenants go to clusters that answer, once it is known that one does not", async (t) => {
  const { lines, open } = await clustersOf(t);
  const store = await open("--service-circuit-breaker", "--database-max-retries=0");
  const far = await tenantWithDocument(store, "b");
  await lines.b.cut();
  await until(async () => {
    const error: unknown = await mayView(store, far).catch((reason: unknown) => reason);
    return String(error).includes("CIRCUIT_BREAKER") || undefined;
  });
  for (let n = 0; n < 8; n++) {
    const { cluster } = await store.tenants.create({ id: tenantId(`new-${n}`), name: "" });
    assert.equal(cluster, "a");
  }
  await lines.b.mend();
  assert.ok(await untilServed(store, far));
});
