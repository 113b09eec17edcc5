/**
 * Replicas and writers that go, or say nothing any more: what waits for them, and for how long. Each
 * of these takes seconds, for it takes as long to see that a server is silent.
 */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";

import type postgres from "postgres";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { type Line, openLine } from "../support/line.ts";
import { startFollowedPostgres } from "../support/postgres-binaries.ts";
import { follow, textOf } from "./change-streams.ts";
import { allowed, openStore, pool, tenantWithSchema, write } from "./engines.ts";
import { connect, until } from "./open-write.ts";
import {
  asked,
  leftOut,
  type Opened,
  owner,
  type Replicated,
  startReplicated,
} from "./replicated.ts";

let servers: Replicated;
let sql: postgres.Sql;

before(async () => {
  servers = await startReplicated();
  ({ sql } = servers);
});

after(async () => {
  await servers.stop();
});

test("a replica that says nothing any more fails no question", async (t) => {
  const line = await openLine(t, servers.standbyUrl);
  const { store, tenant, warnings } = await servers.open(t, { replicaUrl: line.url });
  await write(store, tenant, { tuples: owner("a") });
  await servers.caughtUp();
  line.silence("all");
  const answers = await Promise.all(
    Array.from({ length: 6 }, async () => await allowed(store, tenant, asked("a"))),
  );
  assert.ok(answers.every((answer) => answer));
  assert.equal(leftOut(warnings), 1, warnings.join("\n"));
});

test(
  "what waits for a silent replica goes to the writer at once",
  { timeout: 60_000 },
  async (t) => {
    const line = await openLine(t, servers.standbyUrl);
    const { store, tenant } = await servers.open(t, {
      replicaUrl: line.url,
      pool: { ...pool, maxConnections: 1, connectTimeoutMs: 0 },
    });
    await write(store, tenant, { tuples: owner("a") });
    await servers.caughtUp();
    await allowed(store, tenant, asked("a"));
    line.silence("all");
    // One by one, each with a connection that does not come about, they would be at it for minutes.
    const answers = await Promise.all(
      Array.from({ length: 60 }, async () => await allowed(store, tenant, asked("a"))),
    );
    assert.ok(answers.every((answer) => answer));
  },
);

test("a replica all of whose connections are busy is not silent", async (t) => {
  const looks = { count: 0 };
  const { store, tenant, warnings } = await servers.open(t, {
    // The writer itself, by another name of it.
    replicaUrl: `${servers.url}?application_name=pemba-reader`,
    pool: { ...pool, maxConnections: 1 },
    onStatement: (text) => {
      if (text.includes("pg_postmaster_start_time")) looks.count++;
    },
  });
  await write(store, tenant, { tuples: owner("a") });
  await allowed(store, tenant, asked("a"));
  const answer = await sql.begin(async (open) => {
    await open`lock table relationships in access exclusive mode`;
    const running = allowed(store, tenant, asked("a"));
    await until(async () => {
      const rows = await sql`select from pg_stat_activity where wait_event_type = 'Lock'`;
      return rows.length === 1 ? true : undefined;
    });
    const before = looks.count;
    await until(async () => (looks.count >= before + 3 ? true : undefined));
    return { running };
  });
  assert.equal(await answer.running, true);
  assert.deepEqual(warnings, []);
});

test("a writer that says nothing holds up no end", { timeout: 60_000 }, async (t) => {
  const { warnings, lagMs, line, store } = await openWithLine(t);
  line.silence("all");
  // A look at the writer has come to nothing, and the next is under way or to come.
  await until(async () => ((lagMs() ?? 0) > 0 ? true : undefined));
  await store.close();
  assert.deepEqual(warnings, []);
});

test("a replica is left out when the writer has said nothing for a minute", async (t) => {
  for (const how of ["cut", "silence"] as const) {
    const { warnings, news, line, store, lagMs } = await openWithLine(t);
    if (how === "cut") await line.cut();
    else line.silence("all");
    const now = performance.now.bind(performance);
    const later = t.mock.method(performance, "now", () => now() + 61_000);
    await until(async () => (leftOut(warnings) === 1 ? true : undefined));
    assert.ok((lagMs() ?? 0) > 60, how);
    later.mock.restore();
    await line.cut();
    await line.mend();
    await until(async () => (news.length === 1 ? true : undefined));
    assert.equal(warnings.length, 1);
    await store.close();
  }
});

test("with all servers named for both, a failover leaves the instance at work", async (t) => {
  const pair = await startFollowedPostgres();
  t.after(pair.standby.stop);
  let isLost = false;
  const lose = async (): Promise<void> => {
    if (isLost) return;
    isLost = true;
    await pair.primary.stop();
  };
  t.after(lose);
  const hosts = [pair.primary.url, pair.standby.url].map((url) => new URL(url).host);
  const url = pair.primary.url.replace(hosts[0] ?? "", hosts.join(","));
  const warnings: string[] = [];
  const store = await openStore(url, {
    replicaUrl: `${url}?application_name=pemba-reader`,
    watch: { readAheadMax: 10 },
    warn: (text) => void warnings.push(text),
  });
  t.after(async () => await store.close());
  const tenant = await tenantWithSchema(store);
  const token = await write(store, tenant, { tuples: owner("a") });
  const heir = connect(pair.standby.url, 1);
  t.after(async () => await heir.end({ timeout: 1 }));
  await until(async () => {
    const [row] = await heir`select count(*)::int as count from changes`.catch(() => []);
    return row?.["count"] === 1 ? true : undefined;
  });
  await lose();
  await heir`select pg_promote()`;
  const later = await until(async () =>
    write(store, tenant, { tuples: owner("b") }).catch(() => undefined),
  );
  assert.equal(await allowed(store, tenant, asked("b", later)), true);
  assert.equal(await allowed(store, tenant, asked("b", token)), false);
  assert.equal(await allowed(store, tenant, asked("a", token)), true);
  await until(async () => (leftOut(warnings) > 0 ? true : undefined));
  assert.equal(await allowed(store, tenant, asked("b")), true);
  const follower = await follow(store, tenant);
  const heard = follower.next();
  await until(async () => {
    const rows = await heir`
      select from pg_stat_activity
      where query like '%listen pemba_changes%' and pid <> pg_backend_pid()
    `;
    return rows.length === 1 ? true : undefined;
  });
  await write(store, tenant, { tuples: owner("c") });
  assert.deepEqual(textOf(await heard), ["+doc:1#owner@user:c"]);
  await follower.leave();
});

/** A store with a replica, to whose writer there is a line. */
async function openWithLine(t: TestContext): Promise<
  Opened & {
    readonly line: Line;
    /** How far the replica is behind, as it is told. */
    readonly lagMs: () => number | undefined;
  }
> {
  const line = await openLine(t, servers.url);
  const readings = new Map<string, () => readonly { readonly value: number }[]>();
  const opened = await servers.open(t, {
    url: line.url,
    maxRetries: 0,
    telemetry: { ...noTelemetry, observe: (name, read) => void readings.set(name, read) },
  });
  return { ...opened, line, lagMs: () => readings.get("db.client.replica.lag")?.()[0]?.value };
}
