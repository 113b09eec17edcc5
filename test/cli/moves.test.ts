/** Commands that move tenants between clusters. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { allowed, openPlaced, tenantWithSchema, write } from "../store/engines.ts";
import { connect, until } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { type Finished, startPemba } from "../support/pemba.ts";
import type { PlacedDatabases } from "../support/placed-databases.ts";

let placed: PlacedDatabases;

before(async () => {
  placed = await openPlaced();
});

after(async () => {
  await placed.close();
});

/** The clusters a, b and c as a configuration has them. */
function clustersOf(weights: readonly number[]): readonly object[] {
  return placed.urls.map((uri, index) => ({
    name: String.fromCodePoint(97 + index),
    uri,
    weight: weights[index],
  }));
}

/** The variables that name these clusters. */
function variablesOf(weights: readonly number[]): Readonly<Record<string, string>> {
  return {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_CLUSTERS: JSON.stringify(clustersOf(weights)),
  };
}

/** Runs a command with the clusters, which have these weights. */
async function run(words: string, weights: readonly number[] = [1, 1, 1]): Promise<Finished> {
  return await runCommand(words.split(" "), { env: variablesOf(weights) });
}

async function clusterOf(id: TenantId): Promise<string | undefined> {
  const { items } = await placed.store.tenants.list({
    after: undefined,
    limit: 1,
    among: new Set([id]),
  });
  return items[0]?.cluster;
}

test("a tenant moves to the cluster that the command names", async () => {
  const { store } = placed;
  const tenant = await tenantWithSchema(store, "b");
  await write(store, tenant, { tuples: ["doc:1#owner@user:ann"] });
  const { status, stdout, stderr } = await run(`tenant move ${tenant} --to c --rate 100000`);
  assert.deepEqual([status, /\nfollows|: counts/.test(stderr)], [0, true], stderr);
  assert.match(stdout, /^moved t-\S+ from b to c, its writers were stopped for \d+ ms\n$/);
  assert.equal(await clusterOf(tenant), "c");
  assert.equal(await allowed(store, tenant, { id: "1", permission: "view", subject: "ann" }), true);
  const again = await run(`tenant move ${tenant} --to c`);
  assert.match(again.stderr, /--to: the tenant is on `c`, expected another cluster/);
  const reverted = await run(`tenant move ${tenant} --revert`);
  assert.match(reverted.stderr, /--revert: no move of the tenant is under way, it is on `c`/);
});

test("SQL has its functions at the target before rows are removed at the source", async (t) => {
  const { store } = placed;
  const env = { ...variablesOf([1, 1, 1]), SERVICE_DATABASE_SQL_ENABLED: "true" };
  const enabled = await runCommand(["sql", "enable"], { env });
  assert.equal(enabled.status, 0, enabled.stderr);
  const tenant = await tenantWithSchema(store, "b");
  await write(store, tenant, { tuples: ["doc:1#owner@user:ann"] });
  const [source, target] = [placed.urls[1], placed.urls[2]].map((url) => connect(url ?? "", 1));
  assert(source !== undefined && target !== undefined);
  t.after(async () => await Promise.all([source, target].map((sql) => sql.end({ timeout: 1 }))));
  // Keeps rows from being removed.
  const locked = await source.reserve();
  await locked`begin`;
  await locked`lock table relationships in share mode`;
  const moved = runCommand(["tenant", "move", tenant, "--to", "c"], { env });
  await until(async () => {
    const rows = await target`
      select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'ann') as allowed
    `.catch(() => []);
    return rows[0]?.["allowed"] === true ? true : undefined;
  });
  assert.equal(await Promise.race([moved, Promise.resolve("it still waits")]), "it still waits");
  await locked`rollback`;
  locked.release();
  const { status, stderr } = await moved;
  assert.equal(status, 0, stderr);
});

test("a move takes the clusters of the file that the command names", async (t) => {
  const { store } = placed;
  const tenant = await tenantWithSchema(store, "a");
  const folder = await mkdtemp(join(tmpdir(), "pemba-moves-"));
  t.after(async () => await rm(folder, { recursive: true }));
  const file = join(folder, "pemba.yaml");
  // JSON is YAML, too.
  const database = { engine: "postgres", clusters: clustersOf([1, 0, 1]) };
  await writeFile(file, JSON.stringify({ database }));
  const list = await runCommand(["cluster", "list", "--config", file]);
  assert.match(list.stdout, /\nb +weight 0 +up/);
  const moved = await runCommand(["tenant", "move", tenant, "--to", "b", "--config", file]);
  assert.match(moved.stdout, /^moved t-\S+ from a to b/, moved.stderr);
  assert.equal(await clusterOf(tenant), "b");
});

test("wrong words of a move are told", async () => {
  const none = await run("tenant move x --to d");
  assert.match(none.stderr, /--to: `d` is none of `a`, `b`, `c`/);
  assert.match((await run("tenant move x")).stderr, /expected either --to CLUSTER or --revert/);
  assert.match((await run("tenant move x --to a --rate 0")).stderr, /--rate: expected/);
  assert.match((await run("tenant move none --to a")).stderr, /no tenant `none`/);
  assert.match(
    (await run("tenant move no/id --to a")).stderr,
    /tenant: `no\/id` is not a tenant id/,
  );
  const alone = await runCommand(["cluster", "list", "--database-uri", placed.urls[0] ?? ""]);
  assert.match(alone.stderr, /^pemba: `database.clusters`: is empty, so there are no clusters /);
});

test("tenants are moved until each cluster has its share", async () => {
  const { store } = placed;
  const tenants: TenantId[] = [];
  for (let nth = 0; nth < 3; nth++) {
    const tenant = await tenantWithSchema(store, "a");
    const tuples = Array.from({ length: 100 }, (_, id) => `doc:d${id}#owner@user:ann`);
    await write(store, tenant, { tuples });
    tenants.push(tenant);
  }
  const shown = await run("tenant balance --dry-run");
  assert.equal(shown.stdout.split("\n").filter((line) => line.endsWith("100 tuples")).length, 2);
  assert.deepEqual(new Set(await Promise.all(tenants.map(clusterOf))), new Set(["a"]));
  const { status, stderr } = await run("tenant balance");
  assert.equal(status, 0, stderr);
  assert.equal(new Set(await Promise.all(tenants.map(clusterOf))).size, 3);
});

test("a tenant that cannot be moved does not keep others from their share, and is named", async () => {
  const { store } = placed;
  for (let nth = 0; nth < 3; nth++) {
    const tenant = await tenantWithSchema(store, "a");
    const tuples = Array.from({ length: 500 }, (_, id) => `doc:d${id}#owner@user:ann`);
    await write(store, tenant, { tuples });
  }
  const { stdout } = await run("tenant balance --dry-run");
  const [first = "", ...others] = stdout.trim().split("\n");
  const held = first.split(" ")[0] as TenantId;
  assert.ok(others.length > 0);
  await onHome(
    (sql) => sql`
      insert into moves (tenant, source, target, mover)
      select tenant, cluster, 'c', gen_random_uuid() from placements where tenant = ${held}
      on conflict (tenant) do update set step = 'copying', mover = excluded.mover, seen_at = now()`,
  );
  const { status, stderr } = await run("tenant balance");
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`\npemba: not moved: ${held}\n$`));
  for (const line of others) {
    const [id = "", , to] = line.split(/ +/);
    assert.equal(await clusterOf(id as TenantId), to);
  }
  await onHome((sql) => sql`delete from moves where tenant = ${held}`);
});

test("a cluster that does not answer gets no tenants of one that is drained, and is told once", async () => {
  const { store } = placed;
  const tenants = [await tenantWithSchema(store, "b"), await tenantWithSchema(store, "b")];
  const [a = "", b = ""] = placed.urls;
  const lost = "postgres://127.0.0.1:1/none";
  const drain = async (weightOfA: number): Promise<Finished> => {
    const clusters = [
      { name: "a", uri: a, weight: weightOfA },
      { name: "b", uri: b, weight: 0 },
      { name: "c", uri: lost, weight: 1_000 },
    ];
    const env = {
      SERVICE_DATABASE_ENGINE: "postgres",
      SERVICE_DATABASE_CLUSTERS: JSON.stringify(clusters),
    };
    return await runCommand(["cluster", "drain", "b"], { env });
  };
  const told = /^pemba: no tenant moves to `c`: cluster `c`: the database does not answer.*\n/;
  const none = await drain(0);
  assert.equal(none.status, 1);
  assert.equal(
    none.stderr.replace(told, ""),
    "pemba: no other cluster has a weight above 0 and can be used\n",
  );
  const { status, stderr } = await drain(1);
  assert.equal(status, 0, stderr);
  assert.equal(stderr.match(/`c`/g)?.length, 2, stderr);
  assert.deepEqual(await Promise.all(tenants.map(clusterOf)), ["a", "a"]);
});

test("a cluster with the weight 0 is drained, and the list shows it", async () => {
  const { store } = placed;
  const tenant = await tenantWithSchema(store, "c");
  const refused = await run("cluster drain c");
  assert.match(refused.stderr, /the weight of `c` is not 0/);
  const { status, stdout, stderr } = await run("cluster drain c", [1, 1, 0]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /\nno tenant is on c\n$/);
  assert.notEqual(await clusterOf(tenant), "c");
  const list = await run("cluster list", [1, 1, 0]);
  assert.match(list.stdout, /\nc +weight 0 +up +0 tenants\n$/);
});

test("a move that broke off goes on to its cluster when the source is drained", async () => {
  const { store } = placed;
  const [tenant, other] = [await tenantWithSchema(store, "c"), await tenantWithSchema(store, "c")];
  await onHome(
    (sql) => sql`
      insert into moves (tenant, source, target, mover, seen_at)
      values (${tenant}, 'c', 'b', gen_random_uuid(), now() - interval '1 minute')`,
  );
  // By the weights, most tenants go to the other cluster.
  const { status, stderr } = await run("cluster drain c", [1000, 1, 0]);
  assert.equal(status, 0, stderr);
  assert.deepEqual([await clusterOf(tenant), await clusterOf(other)], ["b", "a"]);
});

test("tenants that a drain has not found are told", async () => {
  const { store } = placed;
  const tenant = await tenantWithSchema(store, "c");
  const state = async (word: string): Promise<unknown> =>
    await onHome((sql) => sql`update placements set state = ${word} where tenant = ${tenant}`);
  await state("moving");
  const { status, stderr } = await run("cluster drain c", [1, 1, 0]);
  assert.deepEqual([status, stderr], [1, "pemba: 1 tenants are still on c\n"]);
  await state("placed");
  const unnamed = await runWith({ a: 0, b: 1 }, "cluster list");
  assert.match(unnamed.stdout, /\nc +not configured +unknown +1 tenants\n$/);
  assert.equal(unnamed.status, 1);
});

test("a move is refused, and nothing is noted, if a database is not that of its cluster", async (t) => {
  const { store } = placed;
  const tenant = await tenantWithSchema(store, "a");
  const strange = await createMigratedDatabase();
  t.after(strange.drop);
  const to = `tenant move ${tenant} --to b`;
  const lines: readonly (readonly [Readonly<Record<string, number | string>>, RegExp])[] = [
    [{ a: 0, b: strange.url }, /of `b` belongs to no directory yet/],
    [{ a: 0, b: 2 }, /the database of `b` is that of the cluster `c`/],
    [{ a: 1, b: 0 }, /placements of tenants are not in the database of `a`/],
    [{ a: 0, b: "postgres://127.0.0.1:1/none" }, /cluster `b`: the database does not answer/],
  ];
  for (const [databases, problem] of lines) {
    const { status, stderr } = await runWith(databases, to);
    assert.match(stderr, problem);
    assert.equal(status, 1);
  }
  const drained = await runWith({ b: 1, a: 0 }, "cluster drain a");
  assert.match(drained.stderr, /placements of tenants are not in the database of `b`/);
  const moves = await onHome((sql) => sql`select from moves where tenant = ${tenant}`);
  assert.equal(moves.length, 0);
  assert.equal(await clusterOf(tenant), "a");
});

/** Runs a command with clusters by name: the number of a database, or a URI. All but the first one have the weight 0. */
async function runWith(
  databases: Readonly<Record<string, number | string>>,
  words: string,
): Promise<Finished> {
  const clusters = Object.entries(databases).map(([name, place], index) => ({
    name,
    uri: typeof place === "string" ? place : placed.urls[place],
    weight: index === 0 ? 1 : 0,
  }));
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_CLUSTERS: JSON.stringify(clusters),
  };
  return await runCommand(words.split(" "), { env });
}

/** Asks the database of the directory. */
async function onHome<T>(ask: (sql: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
  const sql = connect(placed.urls[0] ?? "", 1);
  try {
    return await ask(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test("a move that has lost all connections while it waits goes on", async (t) => {
  const { store } = placed;
  const tenant = await tenantWithSchema(store, "a");
  const tuples = Array.from({ length: 100 }, (_, id) => `doc:d${id}#owner@user:ann`);
  await write(store, tenant, { tuples });
  const lines = await Promise.all(placed.urls.map(async (url) => await openLine(t, url)));
  const clusters = lines.map(({ url }, index) => ({
    name: String.fromCodePoint(97 + index),
    uri: url,
  }));
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_CLUSTERS: JSON.stringify(clusters),
  };
  const words = ["tenant", "move", tenant, "--to", "c", "--rate", "1"];
  const { process: mover } = startPemba(words, { env });
  t.after(() => mover.kill("SIGKILL"));
  const signOf = async (): Promise<string | undefined> => {
    const [row] = await onHome(
      (sql) => sql`select seen_at::text as sign from moves where tenant = ${tenant}`,
    );
    return row && String(row["sign"]);
  };
  const there = connect(placed.urls[2] ?? "", 1);
  t.after(async () => await there.end({ timeout: 1 }));
  // It rests after the only page, and its next sign comes in seconds.
  await until(async () => {
    const [row] = await there`
      select progress ->> 'tupleBlock' as block from arrivals where id = ${tenant}`;
    return Number(row?.["block"] ?? 0) > 0 ? true : undefined;
  });
  // Cut off from the answer to a change, it would end: the change may have been made.
  await until(async () => {
    const [row] = await there`
      select bool_and(state = 'idle' and state_change < now() - interval '300 milliseconds') as quiet
      from pg_stat_activity
      where datname = current_database() and application_name = 'pemba'`;
    return row?.["quiet"] === true ? true : undefined;
  });
  const first = await signOf();
  for (const line of lines) await line.cut();
  for (const line of lines) await line.mend();
  await until(async () => ((await signOf()) === first ? undefined : true));
  assert.equal(mover.exitCode, null);
});

test("a move brings no more tuples a second than --rate allows", async (t) => {
  const { store } = placed;
  const tenant = await tenantWithSchema(store, "a");
  const tuples = Array.from({ length: 100 }, (_, id) => `doc:d${id}#owner@user:ann`);
  await write(store, tenant, { tuples });
  const words = ["tenant", "move", tenant, "--to", "c", "--rate", "1"];
  const { process: mover } = startPemba(words, { env: variablesOf([1, 1, 1]) });
  t.after(() => mover.kill("SIGKILL"));
  const [home = "", , target = ""] = placed.urls;
  const [directory, there] = [connect(home, 1), connect(target, 1)];
  t.after(async () => await Promise.all([directory, there].map((sql) => sql.end({ timeout: 1 }))));
  await until(async () => {
    const [row] = await there`
      select count(*)::integer as count
      from relationships join arrivals on arrivals.number = relationships.tenant
      where arrivals.id = ${tenant}`;
    return row?.["count"] === 100 ? true : undefined;
  });
  const signOf = async (): Promise<string> => {
    const [row] = await directory`
      select step, seen_at::text as sign from moves where tenant = ${tenant}`;
    assert.equal(row?.["step"], "copying");
    return String(row["sign"]);
  };
  // All tuples are there, and it waits until the time for them is over. It gives a sign every three seconds.
  const first = await signOf();
  await until(async () => ((await signOf()) === first ? undefined : true));
  assert.equal(await clusterOf(tenant), "a");
});
