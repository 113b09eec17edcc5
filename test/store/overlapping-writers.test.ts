/**
 * Transactions that overlap in ways that lead other designs astray: a token that begins to show more
 * than it did, a write that is answered and not seen, a delete that undoes another, a tail of the
 * log that skips a transaction. Each is set up step by step with open transactions, and must come
 * out right.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { SnapTokens } from "../../src/store/postgres/token/snap-token.ts";
import type { Store } from "../../src/store/store.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { tokenKey } from "../support/token-key.ts";
import { changesOf } from "./change-log.ts";
import {
  attribute,
  openPostgres,
  type OpenStore,
  pool,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { remove } from "./filters.ts";
import { beginDelete, beginWrite, connect } from "./open-write.ts";
import { stateAt } from "./state.ts";

let open: OpenStore;
let store: Store;
let sql: postgres.Sql;
let database: Database;
let tokens: SnapTokens;
let elsewhere: TestDatabase;

before(async () => {
  // Without a retry, so that a write that fails because of another one is seen to fail.
  const opened = await openPostgres({ maxRetries: 0 });
  open = opened;
  store = opened.store;
  sql = connect(opened.url, 8);
  database = await Database.connect({ url: opened.url, pool, warn: assert.fail });
  tokens = await SnapTokens.load(database, { key: tokenKey });
  elsewhere = await createTestDatabase();
});

after(async () => {
  await database.close();
  await sql.end({ timeout: 1 });
  await open.close();
  await elsewhere.drop();
});

const owners = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `doc:1#owner@user:${name}`);

async function state(tenant: TenantId, at?: SnapToken): Promise<readonly string[]> {
  return await stateAt(store, tenant, at);
}

test("a token does not begin to show a transaction that began before it and committed after it", async () => {
  const tenant = await tenantWithSchema(store);
  const early = await beginWrite(sql, tenant, { tuples: owners("early") });
  // Nothing else has committed: the snapshot of this one ends right below the other's id.
  const late = await write(store, tenant, { tuples: owners("late") });
  assert.deepEqual(await state(tenant, late), owners("late"));
  await early.commit();
  assert.deepEqual(await state(tenant, late), owners("late"));
  await write(store, tenant, { tuples: owners("next") });
  assert.deepEqual(await state(tenant, late), owners("late"));
  // The token of the other one names what its last statement saw, and itself.
  assert.deepEqual(await state(tenant, await tokens.mint(early.source)), owners("early"));
  assert.deepEqual(await state(tenant), owners("early", "late", "next"));
});

test("a committed write is seen at once, though the newest token was made while it was open", async () => {
  const tenant = await tenantWithSchema(store);
  const first = await beginWrite(sql, tenant, { tuples: owners("first") });
  // Another transaction ends, so that the next snapshot lists the open one among the running.
  await write(store, await tenantWithSchema(store), { tuples: owners("x") });
  const second = await write(store, tenant, { tuples: owners("second") });
  await first.commit();
  assert.deepEqual(await state(tenant), owners("first", "second"));
  // A token made now names both, without a change that it would be made of.
  const now = await write(store, tenant, {});
  assert.deepEqual(await state(tenant, now), owners("first", "second"));
  assert.deepEqual(await state(tenant, second), owners("second"));
  assert.deepEqual(await state(tenant, await tokens.mint(first.source)), owners("first"));
});

test("of three transactions that commit out of order none is between two tokens twice or never", async () => {
  const tenant = await tenantWithSchema(store);
  const tokenNow = async (): Promise<SnapToken> => await write(store, tenant, {});
  const start = await tokenNow();
  const [x, y, z] = [
    await beginWrite(sql, tenant, { tuples: owners("x") }),
    await beginWrite(sql, tenant, { tuples: owners("y") }),
    await beginWrite(sql, tenant, { tuples: owners("z") }),
  ];
  const seen = [start];
  for (const one of [z, x, y]) {
    await one.commit();
    seen.push(await tokenNow());
  }
  const expected = [owners(), owners("z"), owners("x", "z"), owners("x", "y", "z")];
  for (const [index, token] of seen.entries()) {
    assert.deepEqual(await state(tenant, token), expected[index]);
  }
  assert.deepEqual(
    await Promise.all(
      seen.slice(1).map(async (token, index) => await between(tenant, seen[index], token)),
    ),
    [["z"], ["x"], ["y"]],
  );
});

test("a state from before the first write of a tenant is one that can be read, and gone on from", async () => {
  const tenant = await tenantWithSchema(store);
  const empty = await write(store, tenant, {});
  const token = await write(store, tenant, { tuples: owners("a") });
  await remove(store, tenant, { tuples: { type: "doc" } });
  assert.deepEqual(await state(tenant, empty), []);
  assert.deepEqual(await state(tenant, token), owners("a"));
  assert.deepEqual(await between(tenant, empty, await write(store, tenant, {})), ["a", "a"]);
});

test("two deletes of different keys run side by side, and neither brings back what the other deleted", async () => {
  const tenant = await tenantWithSchema(store);
  const [one, other] = await namesOfTwoStripes();
  const token = await write(store, tenant, {
    tuples: [...owners(one, other), "doc:2#owner@user:stays"],
  });
  const first = await beginDelete(sql, tenant, owners(one)[0] ?? "");
  const second = await beginDelete(sql, tenant, owners(other)[0] ?? "");
  await second.commit();
  await first.commit();
  const left = ["doc:2#owner@user:stays"];
  assert.deepEqual(await state(tenant), left);
  assert.deepEqual(await state(tenant, await write(store, tenant, {})), left);
  assert.deepEqual(await state(tenant, await tokens.mint(first.source)), [
    ...owners(other),
    ...left,
  ]);
  assert.deepEqual(await state(tenant, await tokens.mint(second.source)), [
    ...owners(one),
    ...left,
  ]);
  assert.deepEqual(await state(tenant, token), [...owners(one, other).toSorted(), ...left]);
});

test("a delete that is open hides nothing, and its token brings back nothing that came after it", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: owners("a") });
  const deleting = await beginDelete(sql, tenant, owners("a")[0] ?? "");
  const during = await write(store, tenant, { tuples: ["doc:2#owner@user:b"] });
  assert.deepEqual(await state(tenant), [...owners("a"), "doc:2#owner@user:b"]);
  await deleting.commit();
  const again = await write(store, tenant, { tuples: owners("a") });
  assert.deepEqual(await state(tenant, await tokens.mint(deleting.source)), []);
  assert.deepEqual(await state(tenant, during), [...owners("a"), "doc:2#owner@user:b"]);
  assert.deepEqual(await state(tenant, again), [...owners("a"), "doc:2#owner@user:b"]);
});

test("changes of the same instant are told apart", async () => {
  const tenant = await tenantWithSchema(store);
  const first = await write(store, tenant, { tuples: owners("a") });
  const second = await write(store, tenant, {
    attributes: [attribute("limit", { type: "integer", data: 1 })],
  });
  const third = await write(store, tenant, {
    attributes: [attribute("limit", { type: "integer", data: 2 })],
  });
  await sql`
    update changes set at = '2024-02-29T12:00:00Z'
    where tenant = (select number from tenants where id = ${tenant})
  `;
  assert.deepEqual(await state(tenant, first), owners("a"));
  assert.deepEqual(await state(tenant, second), [...owners("a"), "doc:1$limit=1"]);
  assert.deepEqual(await state(tenant, third), [...owners("a"), "doc:1$limit=2"]);
});

test("a transaction that stays open in another database of the server holds nothing up", async () => {
  const tenant = await tenantWithSchema(store);
  const foreign = connect(elsewhere.url, 1);
  const long = await foreign.reserve();
  await long`begin`;
  await long`select pg_current_xact_id()`;
  const token = await write(store, tenant, { tuples: owners("a") });
  const later = await remove(store, tenant, { tuples: { type: "doc" } });
  assert.deepEqual(await state(tenant, token), owners("a"));
  assert.deepEqual(await state(tenant, later), []);
  await long`commit`;
  long.release();
  await foreign.end();
  assert.deepEqual(await state(tenant, token), owners("a"));
  assert.deepEqual(await state(tenant, later), []);
});

/** Subjects of the changes that are visible at the later token and not at the earlier one. */
async function between(
  tenant: TenantId,
  from: SnapToken | undefined,
  to: SnapToken,
): Promise<readonly string[]> {
  const visible = async (token: SnapToken): Promise<ReadonlySet<string>> => {
    const rows = await sql<{ xid: string }[]>`
      select distinct xid::text from changes
      where tenant = (select number from tenants where id = ${tenant})
        and pg_visible_in_snapshot(xid, ${tokens.read(token).snapshot}::text::pg_snapshot)
    `;
    return new Set(rows.map(({ xid }) => xid));
  };
  const [before, after] = [await visible(from ?? assert.fail("no token")), await visible(to)];
  const changes = await changesOf(sql, tenant);
  return changes
    .filter(({ xid }) => after.has(xid) && !before.has(xid))
    .map(({ key }) => key.split(" ")[4] ?? "");
}

/** Two users whose ownership of `doc:1` is not guarded by the same lock. */
async function namesOfTwoStripes(): Promise<readonly [string, string]> {
  const rows = await sql<{ name: string }[]>`
    select distinct on (tuple_stripe('1', 'owner', name)) name
    from (select 'u' || n as name from generate_series(1, 100) as numbers (n)) as users
    order by tuple_stripe('1', 'owner', name), name limit 2
  `;
  const [one, other] = rows.map(({ name }) => name);
  assert.ok(one !== undefined && other !== undefined);
  return [one, other];
}
