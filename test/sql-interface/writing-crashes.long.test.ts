/**
 * Postgres is killed again and again while applications write in transactions of their own, prepared ones
 * among them, and change a table that a map follows, the service writes, runs bundles and deletes, and
 * followers watch. After each restart nothing is half there, the log replays to what is stored, the table
 * and what the map derives are equal, and the followers are told each transaction once.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { SnapTokens } from "../../src/store/postgres/token/snap-token.ts";
import type { Store } from "../../src/store/store.ts";
import { changesOf, replay, storedState } from "../store/change-log.ts";
import { apply, type Follower, follow, textOf } from "../store/change-streams.ts";
import { openStore, pool, tenantWithSchema, tuple, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { stateAt } from "../store/state.ts";
import { runCommand } from "../support/commands-process.ts";
import { type Dice, dice } from "../support/dice.ts";
import { type RestartableServer, startRestartablePostgres } from "../support/postgres-binaries.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { tokenKey } from "../support/token-key.ts";
import { grantAll, interfaceOptions } from "./interface-scene.ts";
import { loggedState, loggedTransactions } from "./logged.ts";
import { LostServer, stateOfError, withSession } from "./one-session.ts";
import { callOnce, type Statement, tokenOf } from "./random-applications.ts";
import { serviceChange } from "./random-writes.ts";

const kills = caseCount({ short: 3, long: 5 });
const committedBetween = 30;
const applications = 4;
const services = 3;
const followers = 2;
const role = "writer";
const marker = "group:marker#member@user:end";

const map = `
- table: app.teams
  tenant: TENANT
  entity: "group:team_{id}"
  tuples: ["member@group:{parent_id}#member"]
`;

/** A killed process loses what it had in memory alone: what it has written is in the hands of the system. */
const postgresSettings = ["max_connections=100", "fsync=off", "max_prepared_transactions=20"];

/** What all share. */
interface Story {
  readonly store: Store;
  /** Of the server. */
  readonly url: string;
  readonly tenant: TenantId;
  /** Transactions whose commit was confirmed, with the token of each. */
  readonly committed: Map<string, SnapToken>;
  /** Those of which nothing was heard any more, or an error that says so. */
  readonly unsure: Set<string>;
  /** Those that were undone for certain. */
  readonly undone: Set<string>;
  prepared: number;
  /** No more of it is needed. */
  isOver: boolean;
}

class Undone extends Error {}

/** Others were in the way. */
const refusedStates = ["40001", "40P01"];

/** Whether a call of the service failed because the database was away, or others in the way. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof PembaError &&
    ["UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED", "SERIALIZATION"].includes(error.code)
  );
}

async function mark(
  inside: Statement,
  tenant: TenantId,
  name: string,
  user: string,
): Promise<void> {
  await inside`select pemba.write_tuple(${tenant}, 'group', ${name}, 'member', 'user', ${user})`;
}

/** A transaction that creates `x` first and `y` last, other changes between, and `z` in an undone part. */
async function applicationWork(story: Story, name: string, die: Dice): Promise<SnapToken> {
  const { tenant, url } = story;
  const isPrepared = die.happens(0.15);
  const token = await withSession(url, role, async ({ statement: inside, run }) => {
    await run("begin");
    if (die.happens(0.5)) await inside`select pg_current_xact_id()`;
    await mark(inside, tenant, name, "x");
    if (die.happens(0.5)) await changeTeams(inside, name, die);
    for (let count = die.upTo(3); count > 0; count--) {
      await callOnce(inside, tenant, die);
      if (die.happens(0.3)) await wait(die.upTo(10));
    }
    if (die.happens(0.3)) {
      await run("savepoint part");
      await mark(inside, tenant, name, "z");
      await run("rollback to savepoint part");
    }
    await mark(inside, tenant, name, "y");
    const last = await tokenOf(inside, tenant);
    if (die.happens(0.15)) throw new Undone();
    await run(isPrepared ? `prepare transaction '${name}'` : "commit");
    return last;
  });
  if (isPrepared) {
    story.prepared++;
    await commitPrepared(url, name);
  }
  return token;
}

/** Statements on the mapped table: they meet rows of other transactions. */
async function changeTeams(inside: Statement, name: string, die: Dice): Promise<void> {
  const parent = `parent_${die.upTo(4)}`;
  await inside`insert into app.teams (id, parent_id) values (${name}, ${parent})`;
  await inside`
    insert into app.teams (id, parent_id) values (${String(die.upTo(4))}, ${parent})
    on conflict (id) do update set parent_id = excluded.parent_id
  `;
  if (die.happens(0.3)) await inside`delete from app.teams where id = ${String(die.upTo(4))}`;
}

/** A prepared transaction outlives the server: its commit is asked for until it is there. */
async function commitPrepared(url: string, name: string): Promise<void> {
  for (;;) {
    try {
      await withSession(url, role, async ({ run }) => await run(`commit prepared '${name}'`));
      return;
    } catch (error) {
      // Committed before, and the answer was lost.
      if (stateOfError(error) === "42704") return;
      if (!(error instanceof LostServer)) throw error;
      await wait(20);
    }
  }
}

async function applicationRun(story: Story, name: string, die: Dice): Promise<void> {
  try {
    story.committed.set(name, await applicationWork(story, name, die));
  } catch (error) {
    const isRefused = refusedStates.includes(stateOfError(error) ?? "");
    if (error instanceof Undone || isRefused) story.undone.add(name);
    else if (error instanceof LostServer) story.unsure.add(name);
    else throw error;
    await wait(10);
  }
}

async function serviceRun(story: Story, name: string, die: Dice): Promise<void> {
  const { store, tenant } = story;
  try {
    await serviceChange(store, tenant, die);
    const tuples = ["x", "y"].map((user) => tuple(`group:${name}#member@user:${user}`));
    const data = { schemaVersion: undefined, tuples, attributes: [] };
    story.committed.set(name, await store.data.write(tenant, data));
  } catch (error) {
    if (!isOutage(error)) throw error;
    story.unsure.add(name);
    await wait(10);
  }
}

/** Follows until the marker comes, over all outages. Resolves to what it was told, by transaction. */
async function watchAll(story: Story, start: SnapToken): Promise<readonly string[]> {
  const told: string[] = [];
  const state = new Set<string>();
  let token = start;
  for (;;) {
    let follower: Follower | undefined;
    try {
      follower = await follow(story.store, story.tenant, token);
      for (;;) {
        const message = await follower.next();
        token = message.snapToken;
        if (message.changes.length === 0) continue;
        const texts = textOf(message);
        for (const text of texts) apply(state, text);
        told.push(JSON.stringify(texts));
        if (texts.includes(`+${marker}`)) return told;
      }
    } catch (error) {
      if (!isOutage(error)) throw error;
      await wait(20);
    } finally {
      await follower?.leave();
    }
  }
}

/** Kills all of the server, or a process that works for a client, with which the server ends all others. */
async function strike(server: RestartableServer, nth: number): Promise<void> {
  if (nth % 3 === 2) {
    await server.signal("SIGKILL", "backend");
    return;
  }
  await server.signal("SIGKILL", "all");
  await server.halt();
  await server.restart();
}

/** Resolves when the condition holds; how long that takes is for the limit of the test to say. */
async function since(story: Story, holds: () => boolean): Promise<void> {
  while (!holds() && !story.isOver) await wait(10);
}

/** Whether a query of the owner had no server. */
function isLostConnection(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(CONNECTION_|CONNECT_|ECONN|EPIPE|57P0)/.test(code);
}

/** Calls until the server is there. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) && !isLostConnection(error)) throw error;
      await wait(50);
    }
  }
}

/** Every transaction that was confirmed is there with all of it, and of any other all or nothing. */
async function assertWhole(owner: postgres.Sql, story: Story): Promise<void> {
  const rows = await owner<{ name: string; users: string }[]>`
    select entity_id as name, string_agg(subject_id, '' order by subject_id) as users
    from relationships
    where tenant = (select number from tenants where id = ${story.tenant})
      and entity_type = 'group' and subject_type = 'user' and entity_id <> 'marker'
    group by entity_id
  `;
  for (const { name, users } of rows) {
    assert.equal(users, "xy", name);
    assert.ok(!story.undone.has(name), `${name} was undone`);
  }
  const found = new Set(rows.map(({ name }) => name));
  for (const name of story.committed.keys()) assert.ok(found.has(name), `${name} is lost`);
}

/** Runs `pemba sql` on a database. Resolves to what it prints. */
function commands(
  t: TestContext,
  url: string,
): (command: string, file?: string) => Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-crashes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "maps.yaml");
  return async (command, file) => {
    if (file !== undefined) writeFileSync(path, file);
    const words = ["sql", command, ...(file === undefined ? [] : [path])];
    const { status, stdout, stderr } = await runCommand(words, {
      env: { SERVICE_DATABASE_URI: url },
    });
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  };
}

test("kills of Postgres amid transactions of applications leave nothing half, and streams go on", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const server = await startRestartablePostgres(postgresSettings);
  t.after(server.stop);
  const options = { sql: interfaceOptions, watch: { readAheadMax: 5 }, warn: () => {} };
  const store = await openStore(server.url, { ...options, maxRetries: 50 });
  t.after(async () => await store.close());
  const owner = connect(server.url, 2);
  t.after(async () => await owner.end({ timeout: 1 }));
  await owner`create role ${owner(role)}`;
  await grantAll(owner, role, interfaceOptions.schema);
  await owner.unsafe(`
    create schema app;
    create table app.teams (id text primary key, parent_id text);
    grant usage on schema app to ${role};
    grant select, insert, update, delete on app.teams to ${role};
  `);
  const tenant = await tenantWithSchema(store);
  const pemba = commands(t, server.url);
  // What is printed begins a transaction.
  const session = connect(server.url, 1);
  await session.unsafe(await pemba("map", map.replace("TENANT", tenant)));
  await session.end();
  const start = await write(store, tenant, {});
  const story: Story = {
    store,
    url: server.url,
    tenant,
    committed: new Map(),
    unsure: new Set(),
    undone: new Set(),
    prepared: 0,
    isOver: false,
  };
  const keep = async (
    writer: string,
    number: number,
    run: (story: Story, name: string, die: Dice) => Promise<void>,
  ): Promise<void> => {
    const die = dice(number);
    for (let nth = 0; !story.isOver; nth++) await run(story, `${writer}_${nth}`, die);
  };
  const watching = Array.from({ length: followers }, async () => await watchAll(story, start));
  const writing = [
    ...Array.from({ length: applications }, async (_, index) => {
      await keep(`app${index}`, 100 + index, applicationRun);
    }),
    ...Array.from({ length: services }, async (_, index) => {
      await keep(`service${index}`, 200 + index, serviceRun);
    }),
  ];
  const all = Promise.all(writing);
  all.catch(() => (story.isOver = true));
  for (let nth = 0; nth < kills && !story.isOver; nth++) {
    const { size } = story.committed;
    await since(story, () => story.committed.size > size + committedBetween);
    await strike(server, nth);
  }
  const { size } = story.committed;
  await since(story, () => story.committed.size > size + committedBetween);
  story.isOver = true;
  await all;
  await insist(async () => await write(store, tenant, { tuples: [marker] }));

  await insist(async () => await assertWhole(owner, story));
  const log = await changesOf(owner, tenant);
  assert.deepEqual(replay(log), await storedState(owner, tenant));
  assert.equal(await pemba("reconcile"), "teams: equal\n");
  const changes = { sql: owner, table: "changes" };
  const logged = await loggedTransactions(changes, tenant);
  for (const told of await Promise.all(watching)) assert.deepEqual([...told].toSorted(), logged);
  const database = await Database.connect({ url: server.url, pool, warn: () => {} });
  t.after(async () => await database.close());
  const tokens = await SnapTokens.load(database, { key: tokenKey, fromSql: true });
  const asked = [...story.committed].filter((_, index) => index % 10 === 0);
  for (const [name, token] of asked) {
    const { snapshot } = tokens.read(token);
    assert.deepEqual(
      await stateAt(store, tenant, token),
      await loggedState(changes, tenant, snapshot),
      name,
    );
  }
  assert.ok(story.unsure.size > 0 && story.prepared > 0);
  t.diagnostic(
    `${kills} kills, ${log.length} log rows, ${story.committed.size} committed, ` +
      `${story.unsure.size} unsure, ${story.undone.size} undone, ${story.prepared} prepared, ` +
      `${asked.length} states`,
  );
});
