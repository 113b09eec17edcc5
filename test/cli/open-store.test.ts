import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { follow, textOf } from "../store/change-streams.ts";
import { allowed, fails, newTenant, tenantWithSchema, write } from "../store/engines.ts";
import { until, untilWaiting } from "../store/open-write.ts";
import { openConfigured as open, readAll } from "./configured-store.ts";

/* What the keys of the database do when they are configured, as far as Postgres shows it. */

test("writes go to `database.writer.uri`, and not to `database.uri`", async (t) => {
  const { store } = await open(
    t,
    "--database-writer-uri={url}",
    "--database-uri=postgres://outsider@127.0.0.1:1/none",
  );
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
});

/** Connections of the store after it was asked more at once than it may make, once all are at work. */
async function connectionsAfterRush(t: TestContext, max: number): Promise<number> {
  const { store, sql } = await open(t, `--database-max-connections=${max}`);
  const tenant = await newTenant(store);
  const reading = await sql.begin(async (lock) => {
    await lock`lock table relationships in access exclusive mode`;
    const rush = Array.from({ length: 8 }, async () => await readAll(store, tenant));
    await untilWaiting(sql, max);
    return { rush };
  });
  await Promise.all(reading.rush);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and application_name = 'pemba'
      and query like '%relationships%'
  `;
  return row?.count ?? assert.fail();
}

test("there are no more connections than `database.max_connections`", async (t) => {
  const two = await connectionsAfterRush(t, 2);
  const four = await connectionsAfterRush(t, 4);
  assert.deepEqual([two, four], [2, 4]);
});

test("a statement is repeated `database.max_retries` times", async (t) => {
  const outcome = async (retries: number): Promise<string> => {
    const { store, sql } = await open(t, `--database-max-retries=${retries}`);
    const tenant = await newTenant(store);
    const { reading } = await sql.begin(async (lock) => {
      await lock`lock table relationships in access exclusive mode`;
      const reading = readAll(store, tenant).then(
        () => "read",
        (error: unknown) => String(error),
      );
      await untilWaiting(sql, 1);
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
      `;
      return { reading };
    });
    return await reading;
  };
  assert.match(await outcome(0), /UNAVAILABLE/);
  assert.equal(await outcome(1), "read");
});

test("tokens are authenticated with `service.token_key`, on both engines", async (t) => {
  const flag = "--service-token-key=a-key-of-many-characters";
  const memory = "--database-engine=memory";
  const content = Buffer.from("content");
  const codes = [];
  for (const flags of [[flag], [flag, memory], [], [memory]]) {
    const { store } = await open(t, ...flags);
    codes.push(store.pageMac(content).toString("hex"));
  }
  const [postgres, inMemory, ...drawn] = codes;
  assert.equal(inMemory, postgres);
  assert.equal(new Set([postgres, ...drawn]).size, 3);
});

for (const [key, flag] of [
  ["service.schema.cache.number_of_counters", "--service-schema-cache-number-of-counters=1"],
  ["service.schema.cache.max_cost", "--service-schema-cache-max-cost=1B"],
] as const) {
  test(`what does not fit into \`${key}\` is compiled again`, async (t) => {
    /** Asks for two schemas in turn, and for the first one again when the database has lost it. */
    const askAgain = async (...flags: readonly string[]): Promise<boolean> => {
      const { store, sql } = await open(t, ...flags);
      const [first, second] = [await tenantWithSchema(store), await newTenant(store)];
      await store.schemas.write(second, { text: "entity user {} entity doc { relation a @user }" });
      const question = { id: "1", subject: "u" };
      await allowed(store, first, { ...question, permission: "view" });
      await allowed(store, second, { ...question, permission: "a" });
      await sql`update schemas set text = 'lost'`;
      return await allowed(store, first, { ...question, permission: "view" });
    };
    assert.equal(await askAgain(), false);
    await assert.rejects(askAgain(flag));
  });
}

test("no more transactions than `database.watch_buffer_size` are read ahead", async (t) => {
  const secondMessage = async (size: number): Promise<readonly string[]> => {
    const { store, sql } = await open(
      t,
      "--service-watch-enabled",
      `--database-watch-buffer-size=${size}`,
    );
    const tenant = await tenantWithSchema(store);
    const start = await write(store, tenant, { tuples: ["doc:0#owner@user:a"] });
    for (const id of [1, 2]) await write(store, tenant, { tuples: [`doc:${id}#owner@user:a`] });
    const follower = await follow(store, tenant, start);
    await follower.next();
    await sql`delete from changes`;
    await write(store, tenant, { tuples: ["doc:3#owner@user:a"] });
    const message = await follower.next();
    await follower.leave();
    return textOf(message);
  };
  assert.deepEqual(await secondMessage(100), ["+doc:2#owner@user:a"]);
  assert.deepEqual(await secondMessage(1), ["+doc:3#owner@user:a"]);
});

test("changes are watched only with `service.watch.enabled`", async (t) => {
  const { store } = await open(t);
  const tenant = await tenantWithSchema(store);
  const from = { after: undefined, signal: t.signal };
  await fails(store.changes.follow(tenant, from), "NOT_IMPLEMENTED", "service.watch.enabled");
});

test("a removal of history stops at `database.garbage_collection.timeout`", async (t) => {
  const { sql, log } = await open(
    t,
    "--database-garbage-collection-enabled",
    "--database-garbage-collection-interval=10ms",
    "--database-garbage-collection-window=1ms",
    "--database-garbage-collection-timeout=50ms",
  );
  await sql.begin(async (lock) => {
    await lock`lock table changes in share mode`;
    await until(async () =>
      log.some((line) => line.includes('"isComplete":false')) ? true : undefined,
    );
  });
});

for (const [key, flag] of [
  [
    "service.permission.cache.number_of_counters",
    "--service-permission-cache-number-of-counters=1",
  ],
  ["service.permission.cache.max_cost", "--service-permission-cache-max-cost=1B"],
] as const) {
  test(`answers that do not fit into \`${key}\` are worked out again`, async (t) => {
    /** Asks two questions in turn, and the first one again when its grounds are gone. */
    const askAgain = async (...flags: readonly string[]): Promise<boolean> => {
      const { store, sql } = await open(t, ...flags);
      const tenant = await tenantWithSchema(store);
      const at = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      const ask = async (id: string): Promise<boolean> =>
        await allowed(store, tenant, { id, permission: "view", subject: "a", at });
      // Only of a state that comes again answers are kept.
      await ask("0");
      assert.deepEqual([await ask("1"), await ask("2")], [true, false]);
      await sql`delete from relationships`;
      return await ask("1");
    };
    assert.equal(await askAgain(), true);
    assert.equal(await askAgain(flag), false);
  });
}
