/**
 * Writers that hold no lock but the rows of their keys, as applications in their own transactions, beside
 * the service. What they would break is the order of transaction ids, in which the log is replayed. Each
 * way is set up step by step.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { changesOf, replay, storedState } from "./change-log.ts";
import {
  attribute,
  fails,
  newTenant,
  openPostgres,
  type OpenStore,
  schemaText,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { remove } from "./filters.ts";
import { connect, until, untilWaiting } from "./open-write.ts";

let open: OpenStore & { readonly url: string };
let store: Store;
let sql: postgres.Sql;

before(async () => {
  // Without a retry, so that a change that must be repeated is seen to fail.
  open = await openPostgres({ maxRetries: 0 });
  store = open.store;
  sql = connect(open.url, 8);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await open.close();
});

async function numberOf(tenant: TenantId): Promise<string> {
  const [row] = await sql<{ number: string }[]>`
    select number::text from tenants where id = ${tenant}
  `;
  return row?.number ?? assert.fail("no tenant");
}

/** A transaction that an application has open. */
interface Application {
  /** Creates `doc:ID#owner@user:a` for each id. */
  readonly create: (...ids: readonly string[]) => Promise<void>;
  readonly delete: (...ids: readonly string[]) => Promise<void>;
  /** Deletes `limit` of each document. */
  readonly unset: (...ids: readonly string[]) => Promise<void>;
  /** Runs a statement with the number of the tenant as its parameter. */
  readonly call: (text: string) => Promise<void>;
  /** Gives `limit` of a document a value. */
  readonly set: (id: string, value: number) => Promise<void>;
  readonly commit: () => Promise<void>;
  readonly undo: () => Promise<void>;
}

/** Begins a transaction that has its id from the start. */
async function application(tenant: TenantId): Promise<Application> {
  const number = await numberOf(tenant);
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`select pg_current_xact_id()`;
  const ordinal = connection`(
    select coalesce(max(ordinal) + 1, 0) from changes
    where tenant = ${number} and xid = pg_current_xact_id()
  )`;
  const columns = (ids: readonly string[]): postgres.PendingQuery<postgres.Row[]> => {
    const same = (text: string): readonly string[] => ids.map(() => text);
    return connection`
      ${number}, ${ordinal}, ${same("doc")}::text[], ${[...ids]}::text[], ${same("owner")}::text[],
      ${same("user")}::text[], ${same("a")}::text[], ${same("")}::text[]
    `;
  };
  const end = async (word: "commit" | "rollback"): Promise<void> => {
    await connection.unsafe(word);
    connection.release();
  };
  return {
    create: async (...ids) => {
      await connection`select create_tuples(${columns(ids)})`;
    },
    delete: async (...ids) => {
      await connection`select delete_listed_tuples(${columns(ids)})`;
    },
    unset: async (...ids) => {
      await connection`
        select delete_listed_attributes(
          ${number}, ${ordinal}, ${ids.map(() => "doc")}::text[], ${[...ids]}::text[],
          ${ids.map(() => "limit")}::text[]
        )
      `;
    },
    call: async (text) => {
      await connection.unsafe(text, [number]);
    },
    set: async (id, value) => {
      await connection`
        select set_attributes(
          ${number}, ${ordinal}, '{doc}', ${[id]}::text[], '{limit}', '{integer}',
          ${[String(value)]}::text[]
        )
      `;
    },
    commit: async () => await end("commit"),
    undo: async () => await end("rollback"),
  };
}

const owner = (id: string): string => `doc:${id}#owner@user:a`;
const limit = (value: number, id = "1") => attribute("limit", { type: "integer", data: value }, id);

/** Fails unless the log, replayed, gives what is stored. Returns its lines. */
async function replayed(tenant: TenantId): Promise<readonly string[]> {
  const changes = await changesOf(sql, tenant);
  assert.deepEqual(replay(changes), await storedState(sql, tenant));
  return changes.map(({ operation, key, value }) => `${operation} ${key.trim()} ${value}`.trim());
}

test("a tuple that a later transaction has deleted is not created by an earlier one", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("1")] });
  const early = await application(tenant);
  const late = await application(tenant);
  await late.delete("1");
  await late.commit();
  await assert.rejects(early.create("1", "2"), { code: "40001" });
  await early.undo();
  assert.deepEqual(await replayed(tenant), [
    "create doc 1 owner user a",
    "delete doc 1 owner user a",
  ]);
});

test("a tuple that a later transaction has created is not deleted by an earlier one", async () => {
  const tenant = await tenantWithSchema(store);
  const early = await application(tenant);
  await write(store, tenant, { tuples: [owner("1"), owner("2")] });
  await assert.rejects(early.delete("1"), { code: "40001" });
  await early.undo();
  const another = await application(tenant);
  await write(store, tenant, { attributes: [limit(1)] });
  await assert.rejects(another.set("1", 2), { code: "40001" });
  await another.undo();
  await replayed(tenant);
});

for (const [name, call] of [
  [
    "a tuple by the fast path",
    `select write_tuple(
       id, number, current_timeline(), head_version, 'doc', '1', 'owner', 'user', 'a', '', null
     ) from tenants where number = $1`,
  ],
  [
    "one tuple",
    "select create_tuples($1, 0, '{doc}', '{1}', '{owner}', '{user}', '{a}', array[''])",
  ],
  [
    "several tuples",
    `select create_tuples(
       $1, 0, '{doc,doc}', '{1,2}', '{owner,owner}', '{user,user}', '{a,a}', array['', '']
     )`,
  ],
  ["an attribute", "select set_attributes($1, 0, '{doc}', '{1}', '{limit}', '{integer}', '{2}')"],
] as const) {
  test(`a write of ${name} is refused if a later transaction has deleted the same before`, async () => {
    const tenant = await tenantWithSchema(store);
    await write(store, tenant, { tuples: [owner("1")], attributes: [limit(1)] });
    const early = await application(tenant);
    await remove(store, tenant, { tuples: { type: "doc" }, attributes: { type: "doc" } });
    await assert.rejects(early.call(call), { code: "40001" });
    await early.undo();
    assert.deepEqual(await storedState(sql, tenant), new Map());
  });
}

for (const [name, call] of [
  [
    "a listed tuple",
    "select delete_listed_tuples($1, 0, '{doc}', '{1}', '{owner}', '{user}', '{a}', array[''])",
  ],
  [
    "listed tuples",
    `select delete_listed_tuples(
       $1, 0, '{doc,doc}', '{1,2}', '{owner,owner}', '{user,user}', '{a,a}', array['', '']
     )`,
  ],
  [
    "a tuple between an entity and a subject",
    "select delete_tuples_between($1, 0, 'doc', '1', 'owner', 'user', 'a', '')",
  ],
  [
    "tuples by a filter",
    "select delete_matching_tuples($1, 0, 'doc', '{1}', '', '', '{}', '', '{}')",
  ],
  ["listed attributes", "select delete_listed_attributes($1, 0, '{doc}', '{1}', '{limit}')"],
  ["attributes by a filter", "select delete_attributes($1, 0, 'doc', '{1}', '{}')"],
] as const) {
  test(`a delete of ${name} is refused if a later transaction has made the same before`, async () => {
    const tenant = await tenantWithSchema(store);
    const early = await application(tenant);
    await write(store, tenant, { tuples: [owner("1")], attributes: [limit(1)] });
    await assert.rejects(early.call(call), { code: "40001" });
    await early.undo();
    assert.equal((await replayed(tenant)).length, 2);
  });
}

test("after the later transaction was undone, the earlier one goes on", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("1")] });
  const early = await application(tenant);
  const late = await application(tenant);
  await late.delete("1");
  const creating = early.create("1");
  await untilWaiting(sql, 1);
  await late.undo();
  await creating;
  await early.delete("1");
  await early.create("1");
  await early.commit();
  assert.equal((await replayed(tenant)).length, 3);
});

test("a later change of another key holds up no change", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("1"), owner("2")] });
  const early = await application(tenant);
  await remove(store, tenant, { tuples: { ids: ["2"] } });
  await write(store, tenant, { tuples: [owner("3")] });
  await early.delete("1");
  await early.create("4");
  await early.commit();
  await replayed(tenant);
});

test("a write of the service that comes behind a later delete is repeated", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("2")] });
  const first = await application(tenant);
  await first.create("1");
  // It has an id when it waits for the first key.
  const writing = write(store, tenant, { tuples: [owner("1"), owner("2")] });
  await untilWaiting(sql, 1);
  const late = await application(tenant);
  await late.delete("2");
  await late.commit();
  const failed = fails(writing, "SERIALIZATION");
  await first.undo();
  await failed;
  await replayed(tenant);
});

for (const [name, filter] of [
  ["a filter that names the key", { ids: ["1"], relation: "owner", subjectIds: ["a"] }],
  [
    "a filter that names all of the tuple",
    { type: "doc", ids: ["1"], relation: "owner", subjectType: "user", subjectIds: ["a"] },
  ],
  ["an open filter", { type: "doc" }],
] as const) {
  test(`a delete by ${name} also deletes what took the place of a tuple while it waited`, async () => {
    const tenant = await tenantWithSchema(store);
    await write(store, tenant, { tuples: [owner("1"), owner("2")] });
    const replacing = await application(tenant);
    await replacing.delete("1");
    await replacing.create("1");
    const deleting = remove(store, tenant, { tuples: filter });
    await untilWaiting(sql, 1);
    await replacing.commit();
    await deleting;
    const left = await storedState(sql, tenant);
    assert.ok(
      [...left.keys()].every((key) => !key.startsWith("doc 1 ")),
      [...left.keys()].join(),
    );
    await replayed(tenant);
  });
}

test("a delete of all relations of a subject also deletes what took the place of one while it waited", async () => {
  const tenant = await tenantWithSchema(store);
  const member = "doc:1#viewer@group:g#member";
  await write(store, tenant, { tuples: [member, owner("2")] });
  const replacing = await sql.reserve();
  await replacing`begin`;
  await replacing`
    select delete_tuples_between(${await numberOf(tenant)}, 0, 'doc', '1', 'viewer', 'group', 'g', '')
  `;
  await replacing`
    select create_tuples(${await numberOf(tenant)}, 1, '{doc}', '{1}', '{viewer}', '{group}', '{g}', '{member}')
  `;
  const deleting = remove(store, tenant, {
    tuples: {
      type: "doc",
      ids: ["1"],
      relation: "viewer",
      subjectType: "group",
      subjectIds: ["g"],
    },
  });
  await untilWaiting(sql, 1);
  await replacing`commit`;
  replacing.release();
  await deleting;
  assert.deepEqual([...(await storedState(sql, tenant)).keys()], ["doc 2 owner user a "]);
  await replayed(tenant);
});

test("a delete of an application also deletes what took the place of a tuple while it waited", async () => {
  const tenant = await tenantWithSchema(store);
  for (const ids of [["1"], ["1", "2"]]) {
    await write(store, tenant, { tuples: [owner("1"), owner("2")] });
    const replacing = await application(tenant);
    await replacing.delete("1", "2");
    await replacing.create("1", "2");
    const deleting = await application(tenant);
    const deleted = deleting.delete(...ids);
    await untilWaiting(sql, 1);
    await replacing.commit();
    await deleted;
    await deleting.commit();
    const left = await storedState(sql, tenant);
    assert.equal(left.size, 2 - ids.length, [...left.keys()].join());
  }
  await replayed(tenant);
});

for (const [name, replace] of [
  [
    "deletes and sets it",
    async (replacing: Application) => {
      await replacing.unset("1");
      await replacing.set("1", 2);
    },
  ],
  ["overwrites it", async (replacing: Application) => await replacing.set("1", 2)],
] as const) {
  test(`a delete of an attribute that waits for a transaction that ${name} deletes the new value`, async () => {
    const tenant = await tenantWithSchema(store);
    for (const ids of [["1"], ["1", "2"]]) {
      await write(store, tenant, { attributes: [limit(1), limit(1, "2")] });
      const replacing = await application(tenant);
      await replace(replacing);
      const deleting = await application(tenant);
      const deleted = deleting.unset(...ids);
      await untilWaiting(sql, 1);
      await replacing.commit();
      await deleted;
      await deleting.commit();
      const left = await storedState(sql, tenant);
      assert.equal(left.size, 2 - ids.length, [...left.keys()].join());
    }
    await replayed(tenant);
  });

  test(`a delete of an attribute that waits for a later transaction that ${name} is refused`, async () => {
    const tenant = await tenantWithSchema(store);
    await write(store, tenant, { attributes: [limit(1)] });
    const deleting = await application(tenant);
    const replacing = await application(tenant);
    await replace(replacing);
    const refused = assert.rejects(deleting.unset("1"), { code: "40001" });
    await untilWaiting(sql, 1);
    await replacing.commit();
    await refused;
    await deleting.undo();
    assert.match((await storedState(sql, tenant)).get("doc 1 limit") ?? "", /^integer2 /);
    await replayed(tenant);
  });

  test(`a delete of attributes by a filter that waits for a transaction that ${name} deletes the new value`, async () => {
    const tenant = await tenantWithSchema(store);
    for (const ids of [["1"], []]) {
      await write(store, tenant, { attributes: [limit(1)] });
      const replacing = await application(tenant);
      await replace(replacing);
      const deleting = remove(store, tenant, { attributes: { type: "doc", ids } });
      await untilWaiting(sql, 1);
      await replacing.commit();
      await deleting;
      assert.deepEqual(await storedState(sql, tenant), new Map());
    }
    await replayed(tenant);
  });
}

test("an overwrite that waited logs the value that it overwrote", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { attributes: [limit(1)] });
  const first = await application(tenant);
  await first.set("1", 2);
  const writing = write(store, tenant, { attributes: [limit(3)] });
  await untilWaiting(sql, 1);
  await first.commit();
  await writing;
  assert.deepEqual(await replayed(tenant), [
    "create doc 1 limit integer1",
    "delete doc 1 limit integer1",
    "create doc 1 limit integer2",
    "delete doc 1 limit integer2",
    "create doc 1 limit integer3",
  ]);
});

test("a value is written although another transaction created the attribute meanwhile", async () => {
  const tenant = await tenantWithSchema(store);
  const first = await application(tenant);
  await first.set("1", 2);
  const writing = write(store, tenant, { attributes: [limit(3), limit(3, "2")] });
  await untilWaiting(sql, 1);
  await first.commit();
  await writing;
  const state = await storedState(sql, tenant);
  assert.match(state.get("doc 1 limit") ?? "", /^integer3 /);
  await replayed(tenant);
});

test("a delete of attributes that waited logs the value that it deleted", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { attributes: [limit(1), limit(1, "2")] });
  for (const ids of [["1"], []]) {
    const first = await application(tenant);
    await first.set(ids[0] ?? "2", 2);
    const deleting = remove(store, tenant, { attributes: { type: "doc", ids } });
    await untilWaiting(sql, 1);
    await first.commit();
    await deleting;
  }
  assert.deepEqual(await storedState(sql, tenant), new Map());
  await replayed(tenant);
});

test("an undone part of a transaction, whose id is higher, fails no later part of it", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("1")] });
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`select pg_current_xact_id()`;
  // The id of the part is higher than that of the whole, and has ended.
  await connection`savepoint part`;
  await connection`select delete_listed_tuples(
    ${await numberOf(tenant)}, 0, '{doc}', '{1}', '{owner}', '{user}', '{a}', '{""}'
  )`;
  await connection`rollback to part`;
  await connection`select create_tuples(
    ${await numberOf(tenant)}, 0, '{doc,doc}', '{1,2}', '{owner,owner}', '{user,user}', '{a,a}', '{"",""}'
  )`;
  await connection`select delete_listed_tuples(
    ${await numberOf(tenant)}, 1, '{doc}', '{1}', '{owner}', '{user}', '{a}', '{""}'
  )`;
  await connection`commit`;
  connection.release();
  assert.deepEqual(await replayed(tenant), [
    "create doc 1 owner user a",
    "create doc 2 owner user a",
    "delete doc 1 owner user a",
  ]);
});

test("changes that no other transaction ended beside read nothing of the log", async () => {
  const tenant = await tenantWithSchema(store);
  const number = await numberOf(tenant);
  const calls = [
    `create_tuples(${number}, 0, '{doc}', '{1}', '{owner}', '{user}', '{a}', '{""}')`,
    `create_tuples(${number}, 1, '{doc,doc}', '{2,3}', '{owner,owner}', '{user,user}', '{a,a}', '{"",""}')`,
    `set_attributes(${number}, 3, '{doc}', '{1}', '{limit}', '{integer}', '{1}')`,
    `set_attributes(${number}, 4, '{doc}', '{1}', '{limit}', '{integer}', '{2}')`,
    `delete_tuples(${number}, 6, 'doc', '{1}', 'owner', 'user', '{a}', '')`,
    `delete_tuples(${number}, 7, 'doc', '{2}', '', '', '{}', '')`,
    `delete_listed_tuples(${number}, 8, '{doc}', '{3}', '{owner}', '{user}', '{a}', '{""}')`,
    `delete_attributes(${number}, 9, 'doc', '{1}', '{}')`,
  ];
  for (const call of calls) {
    // Transactions of other databases of the server end beside it as well.
    await until(async () => {
      const connection = await sql.reserve();
      await connection`begin`;
      for (const earlier of calls.slice(0, calls.indexOf(call))) {
        await connection.unsafe(`select ${earlier}`);
      }
      const scans = async (): Promise<number> => {
        const [row] = await connection<{ scans: number }[]>`
          select (seq_scan + coalesce(idx_scan, 0))::integer as scans
          from pg_stat_xact_user_tables where relname = 'changes'
        `;
        return row?.scans ?? assert.fail();
      };
      const before = await scans();
      await connection.unsafe(`select ${call}`);
      const after = await scans();
      await connection`rollback`;
      connection.release();
      return after === before ? true : undefined;
    });
  }
});

test("a change has the time at which it was made, and not that of its transaction", async () => {
  const tenant = await tenantWithSchema(store);
  const waiting = await application(tenant);
  const [before] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  await waiting.create("1");
  await waiting.commit();
  const rows = await sql<{ isLater: boolean }[]>`
    select at >= ${before?.now ?? assert.fail()} as "isLater" from changes
    where tenant = ${await numberOf(tenant)}
  `;
  assert.deepEqual([...rows], [{ isLater: true }]);
});

test("what an application writes into a tenant that ends meanwhile goes with it", async () => {
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  const number = await numberOf(tenant);
  const writing = await application(tenant);
  await writing.create("1");
  await store.tenants.delete(tenant);
  await until(async () => {
    const rows =
      await sql`select from removed_tenants where number = ${number} and writers_below is not null`;
    return rows.length === 1 ? true : undefined;
  });
  // Without a further look at the tenant, as a call that has begun.
  await writing.set("1", 1);
  await writing.commit();
  await until(async () => {
    const rows = await sql`
      select from removed_tenants where number = ${number}
      union all select from relationships where tenant = ${number}
      union all select from attributes where tenant = ${number}
      union all select from changes where tenant = ${number}
    `;
    return rows.length === 0 ? true : undefined;
  });
});
