/**
 * Writes of one tuple that share a transaction: each has the errors, the token and the effects that it would
 * have alone.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { Caller, forCaller } from "../../src/base/caller.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { decodeSnapToken } from "../../src/store/postgres/token/snap-token-codec.ts";
import { printSnapshot } from "../../src/store/postgres/token/snapshot.ts";
import type { Store } from "../../src/store/store.ts";
import { loggedState } from "../sql-interface/logged.ts";
import { snapMac } from "../support/token-key.ts";
import { changesOf, replay, storedState } from "./change-log.ts";
import { type Follower, follow, textOf } from "./change-streams.ts";
import {
  fails,
  openPostgres,
  openStore,
  pool,
  schemaText,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { remove } from "./filters.ts";
import {
  beginDelete,
  beginDeleteOfDocs,
  beginWrite,
  connect,
  until,
  untilWaiting,
} from "./open-write.ts";
import { stateAt } from "./state.ts";

let open: Awaited<ReturnType<typeof openPostgres>>;
/** Another instance over the same database. */
let other: Store;
let store: Store;
let sql: postgres.Sql;
let filler: TenantId;
/** Of writes, as they go to the server. */
const statements: string[] = [];

before(async () => {
  open = await openPostgres({
    maxRetries: 0,
    pool: { ...pool, maxConnections: 20 },
    onStatement: (text) => {
      if (/\bwrite_(batch|tuple|data)\(/.test(text)) statements.push(text);
    },
  });
  store = open.store;
  other = await openStore(open.url);
  sql = connect(open.url);
  filler = await knownTenant();
});

after(async () => {
  await sql.end({ timeout: 1 });
  await other.close();
  await open.close();
});

/** A tenant that the store knows, as it must for a write to go with others. */
async function knownTenant(): Promise<TenantId> {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, {});
  return tenant;
}

interface OneTuple {
  readonly tenant: TenantId;
  readonly tuple: string;
  readonly caller?: Caller;
}

let fillers = 0;

/** Begins writes that go in one transaction, since all slots are taken by others when they come. */
function writeTogether(writes: readonly OneTuple[]): readonly Promise<SnapToken>[] {
  statements.length = 0;
  const before = [1, 2].map(() => ({
    tenant: filler,
    tuple: `doc:${fillers++}#owner@user:a`,
  }));
  const [first, second, ...begun] = [...before, ...writes].map(
    async ({ tenant, tuple, caller = new Caller(new AbortController()) }: OneTuple) =>
      await forCaller(caller, async () => await write(store, tenant, { tuples: [tuple] })),
  );
  return begun.map(async (each) => {
    const [made] = await Promise.all([each, first, second]);
    return made;
  });
}

/** How many statements of each kind there were since the last writes that go together began. */
function sentStatements(): Readonly<Record<string, number>> {
  const names = statements.map((text) => /\bwrite_(batch|tuple|data)\(/.exec(text)?.[1]);
  const count = (name: string): number => names.filter((each) => each === name).length;
  return { batch: count("batch"), tuple: count("tuple"), data: count("data") };
}

/** What was sent for the two that take the slots. */
const ofFillers = 2;

/** Each token names a state that the log has, with the tuple of its write. */
async function assertShown(
  tenant: TenantId,
  writes: readonly (readonly [token: SnapToken, tuple: string])[],
): Promise<void> {
  for (const [token, tuple] of writes) {
    const state = await stateAt(store, tenant, token);
    assert.ok(state.includes(tuple), `${tuple} is missing at its token`);
    const { snapshot } = decodeSnapToken(snapMac, token) ?? assert.fail("no token");
    const log = { sql, table: "changes" };
    assert.deepEqual(state, await loggedState(log, tenant, printSnapshot(snapshot)));
  }
}

const owners = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `doc:1#owner@user:${name}`);

const into = (tenant: TenantId, tuples: readonly string[]): readonly OneTuple[] =>
  tuples.map((tuple) => ({ tenant, tuple }));

test("writes of several tenants share a transaction, and each token shows its tuple", async () => {
  const tenants = [await knownTenant(), await knownTenant()];
  const writes = tenants.flatMap((tenant) => into(tenant, owners("a", "b", "c")));
  const tokens = await Promise.all(writeTogether(writes));
  assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers, data: 0 });
  for (const [nth, tenant] of tenants.entries()) {
    const own = tokens.slice(nth * 3, nth * 3 + 3);
    await assertShown(
      tenant,
      own.map((token, place) => [token, owners("a", "b", "c")[place] ?? ""]),
    );
    const changes = await changesOf(sql, tenant);
    assert.equal(changes.length, 3);
    assert.deepEqual(replay(changes), await storedState(sql, tenant));
    const ordinals = await sql<{ ordinal: number }[]>`
      select ordinal from changes where tenant = (select number from tenants where id = ${tenant})
      order by ordinal
    `;
    assert.deepEqual(
      ordinals.map(({ ordinal }) => ordinal),
      [0, 1, 2],
    );
  }
});

test("a tuple that was there, or is written twice, is logged once, and each token shows it", async () => {
  const [some, none] = [await knownTenant(), await knownTenant()];
  await write(store, some, { tuples: owners("a") });
  await write(store, none, { tuples: owners("a") });
  const texts = owners("a", "b", "b");
  const tokens = await Promise.all(
    writeTogether([...into(some, texts), ...into(none, owners("a"))]),
  );
  assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers, data: 0 });
  const last = tokens[3] ?? assert.fail("no token");
  await assertShown(
    some,
    texts.map((text, place) => [tokens[place] ?? last, text]),
  );
  await assertShown(none, [[last, owners("a")[0] ?? ""]]);
  assert.equal((await changesOf(sql, some)).length, 2);
  assert.equal((await changesOf(sql, none)).length, 1);
  // Nothing of the tenant was changed, so no change proves the state.
  assert.equal(decodeSnapToken(snapMac, last)?.change, undefined);
});

test("a write into a tenant that was deleted elsewhere fails, and the others are made", async () => {
  const [gone, tenant] = [await knownTenant(), await knownTenant()];
  await other.tenants.delete(gone);
  const [refused, ...made] = writeTogether([
    ...into(gone, owners("a")),
    ...into(tenant, owners("a", "b")),
  ]);
  await fails(refused ?? assert.fail("no write"), "TENANT_NOT_FOUND");
  await Promise.all(made);
  assert.equal(sentStatements()["batch"], 1);
  assert.equal((await changesOf(sql, tenant)).length, 2);
});

test("a write into a tenant that has the id now goes into that one", async () => {
  const tenant = await knownTenant();
  await other.tenants.delete(tenant);
  await other.tenants.create({ id: tenant, name: "" });
  await other.schemas.write(tenant, { text: schemaText });
  const tokens = await Promise.all(writeTogether(into(tenant, owners("a", "b"))));
  await assertShown(
    tenant,
    tokens.map((token, place) => [token, owners("a", "b")[place] ?? ""]),
  );
});

test("a write that no longer fits a schema that was changed elsewhere is refused alone", async () => {
  const [changed, tenant] = [await knownTenant(), await knownTenant()];
  await other.schemas.write(changed, {
    text: "entity user {} entity doc { relation viewer @user }",
  });
  const [refused, ...made] = writeTogether([
    ...into(changed, ["doc:1#owner@user:a", "doc:1#viewer@user:a"]),
    ...into(tenant, owners("a")),
  ]);
  await fails(refused ?? assert.fail("no write"), "RELATION_DEFINITION_NOT_FOUND");
  await Promise.all(made);
  assert.equal(sentStatements()["batch"], 1);
  assert.deepEqual(await stateAt(store, changed, undefined), ["doc:1#viewer@user:a"]);
});

test("one tuple that an application holds keeps no other waiting", async (t) => {
  const [held, tenant] = [await knownTenant(), await knownTenant()];
  const application = await beginWrite(sql, held, { tuples: owners("a") });
  t.after(async () => await application.undo());
  const [waiting, ...others] = writeTogether([
    ...into(held, owners("a", "b")),
    ...into(tenant, owners("a")),
  ]);
  await Promise.all(others);
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "transactionid", hasXid: true }]);
  await application.commit();
  await assertShown(held, [[(await waiting) ?? assert.fail("no write"), owners("a")[0] ?? ""]]);
  // Together and in vain, and each alone.
  assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers + 3, data: 0 });
});

test("a write that a delete is in the way of is left to itself at once, and goes after the delete", async (t) => {
  const [held, tenant] = [await knownTenant(), await knownTenant()];
  await write(store, held, { tuples: owners("a") });
  const deleting = await beginDelete(sql, held, "doc:1#owner@user:a");
  t.after(async () => await deleting.undo());
  const [waiting, ...others] = writeTogether([
    ...into(held, owners("a")),
    ...into(tenant, owners("a", "b")),
  ]);
  await Promise.all(others);
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers + 1, data: 0 });
  await deleting.commit();
  await assertShown(held, [[(await waiting) ?? assert.fail("no write"), owners("a")[0] ?? ""]]);
  assert.deepEqual(replay(await changesOf(sql, held)), await storedState(sql, held));
});

test("a write that the end of all tuples of its tenant is in the way of is left to itself at once", async (t) => {
  const [held, tenant] = [await knownTenant(), await knownTenant()];
  const deleting = await beginDeleteOfDocs(sql, held, []);
  t.after(async () => await deleting.undo());
  const [waiting, ...others] = writeTogether([
    ...into(held, owners("a")),
    ...into(tenant, owners("a", "b")),
  ]);
  await Promise.all(others);
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers + 1, data: 0 });
  await deleting.commit();
  await assertShown(held, [[(await waiting) ?? assert.fail("no write"), owners("a")[0] ?? ""]]);
});

test("tuples are created in the order of their keys, after the locks of all of them were taken", async () => {
  const tenant = await knownTenant();
  const [lock] = await sql<{ text: string }[]>`
    select pg_get_functiondef('tuple_stripe'::regproc) as text
  `;
  const order = ["3", "1", "2"];
  try {
    await sql.unsafe(`
      create or replace function tuple_stripe(entity_id text, relation text, subject_id text)
      returns integer language plpgsql immutable as $$
      begin
        if pg_current_xact_id_if_assigned() is not null then
          raise exception 'the transaction has an id';
        end if;
        return entity_id::integer;
      end $$
    `);
    await Promise.all(
      writeTogether(
        into(
          tenant,
          order.map((id) => `doc:${id}#owner@user:a`),
        ),
      ),
    );
  } finally {
    await sql.unsafe(lock?.text ?? assert.fail("no function"));
  }
  assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers, data: 0 });
  const logged = await sql<{ id: string }[]>`
    select entity_id as id from changes
    where tenant = (select number from tenants where id = ${tenant})
    order by ordinal
  `;
  assert.deepEqual(
    logged.map(({ id }) => id),
    order.toSorted(),
  );
});

test("nothing is done on another timeline, nor in a transaction that sees one state", async () => {
  const tenant = await knownTenant();
  const writeOne = async (inside: postgres.ISql, timeline: string): Promise<unknown> => {
    const [row] = await inside<{ written: unknown }[]>`
      select write_batch(
        ${inside.unsafe(timeline)}, array[id], array[number], array[head_version], '{doc}', '{1}',
        '{owner}', '{user}', '{a}', array[''], '20ms'
      ) as written
      from tenants where id = ${tenant}
    `;
    return row?.written;
  };
  assert.equal(await writeOne(sql, "current_timeline() + 1"), null);
  await assert.rejects(
    sql.begin("isolation level repeatable read", async (inside) => {
      await writeOne(inside, "current_timeline()");
    }),
    /read committed/,
  );
  assert.deepEqual(await stateAt(store, tenant, undefined), []);
  assert.match(String(await writeOne(sql, "current_timeline()")), /^\+ /);
});

test("a tuple that is there is no answer for a tenant that has ended or has another schema", async () => {
  const [gone, changed, tenant] = [await knownTenant(), await knownTenant(), await knownTenant()];
  for (const each of [gone, changed]) await write(store, each, { tuples: owners("a") });
  await other.tenants.delete(gone);
  await other.schemas.write(changed, {
    text: "entity user {} entity doc { relation viewer @user }",
  });
  const [ofGone, ofChanged, ...made] = writeTogether([
    ...into(gone, owners("a")),
    ...into(changed, owners("a")),
    ...into(tenant, owners("a", "b")),
  ]);
  await Promise.all([
    fails(ofGone ?? assert.fail("no write"), "TENANT_NOT_FOUND"),
    fails(ofChanged ?? assert.fail("no write"), "RELATION_DEFINITION_NOT_FOUND"),
    ...made,
  ]);
  assert.equal(sentStatements()["batch"], 1);
});

test("a tuple that a map derives is refused as it is alone, and the others are made", async () => {
  const tenant = await knownTenant();
  await sql`insert into maps (name, source, definition) values ('app.docs', 'app.docs', '{}')`;
  await sql`
    insert into derived (label, tenant, map, entity_type, relation, subject_type, subject_relation, attribute)
    values ('doc#viewer@user', ${tenant}, 'app.docs', 'doc', 'viewer', 'user', '', '')
  `;
  try {
    const [refused, ...made] = writeTogether(
      into(tenant, ["doc:1#viewer@user:a", ...owners("a", "b")]),
    );
    await fails(refused ?? assert.fail("no write"), "RELATION_DERIVED", "tuples[0].relation");
    await Promise.all(made);
    // The others go together all the same.
    assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers + 1, data: 1 });
    assert.equal((await changesOf(sql, tenant)).length, 2);
  } finally {
    await sql`delete from derived where tenant = ${tenant}`;
    await sql`delete from maps`;
  }
});

test("a delete that comes later deletes what was written together, and the log replays", async () => {
  const tenant = await knownTenant();
  await Promise.all(writeTogether(into(tenant, owners("a", "b", "c"))));
  await remove(store, tenant, { tuples: { type: "doc", ids: ["1"] } });
  assert.deepEqual(replay(await changesOf(sql, tenant)), await storedState(sql, tenant));
  assert.deepEqual(await stateAt(store, tenant, undefined), []);
});

test("an instance that has streams tells each write in a message of its own", async (t) => {
  const watched = await openStore(open.url, { watch: { readAheadMax: 5 } });
  t.after(async () => await watched.close());
  const tenants = [await tenantWithSchema(watched), await tenantWithSchema(watched)];
  const followers: Follower[] = [];
  for (const tenant of tenants) {
    await write(watched, tenant, {});
    followers.push(await follow(watched, tenant));
  }
  const texts = Array.from({ length: 12 }, (_, nth) => `doc:${nth}#owner@user:a`);
  await Promise.all(
    texts.flatMap((text) =>
      tenants.map(async (tenant) => await write(watched, tenant, { tuples: [text] })),
    ),
  );
  for (const follower of followers) {
    const told: (readonly string[])[] = [];
    while (told.length < texts.length) told.push(textOf(await follower.next()));
    await follower.leave();
    assert.deepEqual(
      told.map((message) => message.join()).toSorted(),
      texts.map((text) => `+${text}`).toSorted(),
    );
  }
});

/** What the server does when a tuple of an entity is created. */
async function onCreate(entityId: string, does: string): Promise<() => Promise<void>> {
  await sql.unsafe(`
    create function on_create() returns trigger language plpgsql as $$
    begin
      ${does};
      return new;
    end $$;
    create trigger on_create before insert on relationships for each row
      when (new.entity_id = '${entityId}') execute function on_create()
  `);
  return async () => {
    await sql.unsafe("drop trigger on_create on relationships; drop function on_create()");
  };
}

test("if the connection is lost, each write fails and says that it may have been made", async () => {
  const tenant = await knownTenant();
  const undo = await onCreate("fatal", "perform pg_terminate_backend(pg_backend_pid())");
  try {
    const callers = [1, 2].map(() => new Caller(new AbortController()));
    const writes = writeTogether([
      { tenant, tuple: "doc:1#owner@user:a", ...(callers[0] && { caller: callers[0] }) },
      { tenant, tuple: "doc:fatal#owner@user:a", ...(callers[1] && { caller: callers[1] }) },
    ]);
    for (const each of writes) await fails(each, "UNAVAILABLE", "may be made or may not");
    for (const { mayHaveChanged } of callers) assert.equal(mayHaveChanged, true);
    assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers, data: 0 });
  } finally {
    await undo();
  }
  assert.deepEqual(await stateAt(store, tenant, undefined), []);
});

test("a fault of one write is its own, and the others are made", async () => {
  const tenant = await knownTenant();
  const undo = await onCreate("faulty", "raise exception 'a fault'");
  try {
    const [failing, ...others] = writeTogether(
      into(tenant, ["doc:faulty#owner@user:a", ...owners("a", "b")]),
    );
    await fails(failing ?? assert.fail("no write"), "INTERNAL");
    await assertShown(
      tenant,
      (await Promise.all(others)).map((token, place) => [token, owners("a", "b")[place] ?? ""]),
    );
  } finally {
    await undo();
  }
});

const refusals: readonly (readonly [condition: string, says: string])[] = [
  ["insufficient_resources", "lacks disk space, memory"],
  ["disk_full", "lacks disk space, memory"],
  ["out_of_memory", "lacks disk space, memory"],
  ["io_error", "a fault of its system"],
  ["read_only_sql_transaction", "no server of the database accepts writes"],
];

for (const [condition, says] of refusals) {
  test(`a write that the server cannot make now (${condition}) fails, and the others are made`, async () => {
    const tenant = await knownTenant();
    const undo = await onCreate("full", `raise exception 'full' using errcode = '${condition}'`);
    try {
      const caller = new Caller(new AbortController());
      const [failing, ...others] = writeTogether([
        { tenant, tuple: "doc:full#owner@user:a", caller },
        ...into(tenant, owners("a", "b")),
      ]);
      await fails(failing ?? assert.fail("no write"), "UNAVAILABLE", says);
      assert.equal(caller.mayHaveChanged, false);
      await Promise.all(others);
      assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers + 3, data: 0 });
    } finally {
      await undo();
    }
    assert.deepEqual(await stateAt(store, tenant, undefined), owners("a", "b"));
  });
}

/** Lets the server wait, when a tuple of `doc:gated` is created, until the gate is opened. */
async function closeGate(): Promise<{
  readonly untilMet: () => Promise<void>;
  readonly open: () => Promise<void>;
  readonly remove: () => Promise<void>;
}> {
  await sql`create table gate ()`;
  const undo = await onCreate(
    "gated",
    "while not exists (select from gate) loop perform pg_sleep(0.001); end loop",
  );
  return {
    untilMet: async () => {
      await until(async () => {
        const met = await sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event = 'PgSleep'
        `;
        return met.length > 0 ? true : undefined;
      });
    },
    open: async () => {
      await sql`insert into gate default values`;
    },
    remove: async () => {
      await undo();
      await sql`drop table gate`;
    },
  };
}

const gated = "doc:gated#owner@user:a";
/** Created after it, in the order of keys. */
const last = "doc:last#owner@user:a";

test("a tuple that another one creates while a batch is under way is in the state of the token", async () => {
  const tenant = await knownTenant();
  const gate = await closeGate();
  try {
    const writes = writeTogether(into(tenant, [gated, last]));
    await gate.untilMet();
    await write(other, tenant, { tuples: [last] });
    await gate.open();
    const [first, second] = await Promise.all(writes);
    assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers, data: 0 });
    await assertShown(tenant, [
      [first ?? assert.fail("no token"), gated],
      [second ?? assert.fail("no token"), last],
    ]);
  } finally {
    await gate.remove();
  }
  assert.deepEqual(replay(await changesOf(sql, tenant)), await storedState(sql, tenant));
});

const besides: readonly {
  readonly what: string;
  readonly isThere: boolean;
  readonly isOwn: boolean;
}[] = [
  { what: "creates another one", isThere: false, isOwn: true },
  { what: "creates one of another tenant", isThere: false, isOwn: false },
  { what: "creates nothing else", isThere: true, isOwn: true },
];

for (const { what, isThere, isOwn } of besides) {
  test(`a tuple that a later transaction deletes while a batch ${what} is created after that`, async () => {
    const tenant = await knownTenant();
    const besideIt = isOwn ? tenant : await knownTenant();
    await write(store, tenant, { tuples: [last] });
    if (isThere) await write(store, besideIt, { tuples: [gated] });
    const gate = await closeGate();
    try {
      const writes = writeTogether([...into(besideIt, [gated]), ...into(tenant, [last])]);
      await gate.untilMet();
      // As an application does: it holds no lock but the row, and its id is the later one.
      await sql`
        select delete_listed_tuples(
          number, 0, '{doc}', '{last}', '{owner}', '{user}', '{a}', array['']
        )
        from tenants where id = ${tenant}
      `;
      await gate.open();
      const [, token] = await Promise.all(writes);
      assert.deepEqual(sentStatements(), { batch: 1, tuple: ofFillers + 2, data: 0 });
      await assertShown(tenant, [[token ?? assert.fail("no token"), last]]);
    } finally {
      await gate.remove();
    }
    assert.deepEqual(replay(await changesOf(sql, tenant)), await storedState(sql, tenant));
  });
}

test("a write whose time is over fails and is undone, and the others are made", async () => {
  let isUndone = false;
  // A busy server may begin too late, or be late to say that it has ended the statement.
  for (let limitMs = 100; !isUndone && limitMs <= 3_200; limitMs *= 2) {
    const tenant = await knownTenant();
    const gate = await closeGate();
    try {
      const caller = new Caller(new AbortController());
      caller.limitChange(performance.now() + limitMs);
      const [late, ...others] = writeTogether([
        { tenant, tuple: gated, caller },
        ...into(tenant, owners("a", "b")),
      ]);
      const made = Promise.allSettled(others);
      const error = await fails(late ?? assert.fail("no write"), "DEADLINE_EXCEEDED");
      isUndone = error.message.includes("was undone");
      // A server that had not begun when it was to cancel goes on, and the others wait for it.
      if (!isUndone) await gate.open();
      const outcomes = (await made).map(({ status }) => status);
      if (!isUndone) continue;
      assert.equal(caller.mayHaveChanged, false);
      assert.deepEqual(outcomes, ["fulfilled", "fulfilled"]);
    } finally {
      await gate.remove();
    }
    assert.deepEqual(await stateAt(store, tenant, undefined), owners("a", "b"));
  }
  assert.ok(isUndone);
});
