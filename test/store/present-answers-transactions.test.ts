/** Kept checks and lookups beside transactions of every kind: each answer is that of a store without a cache. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import type postgres from "postgres";

import { noTelemetry } from "../../src/base/telemetry.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import {
  type InterfaceScene,
  interfaceOptions,
  openInterface,
} from "../sql-interface/interface-scene.ts";
import { lookUp, outcomeOf } from "./asked-text.ts";
import { newTenant, openStore, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { connect } from "./open-write.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity doc {
    relation parent @doc
    relation owner @user @group#member
    relation banned @user
    permission view = (owner or parent.view) not banned
  }
`;

let scene: InterfaceScene;
let store: Store;
let sql: postgres.Sql;
let tenant: TenantId;
let hits = 0;

before(async () => {
  scene = await openInterface();
  store = await openStore(scene.url, {
    sql: interfaceOptions,
    cache: { maxBytes: 400_000, maxEntries: 1_000 },
    slots: 4,
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") hits += amount;
      },
    },
  });
  sql = connect(scene.url);
});
after(async () => {
  await sql.end({ timeout: 1 });
  await store.close();
  await scene.close();
});
beforeEach(async () => {
  tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schema });
  await write(store, tenant, { tuples: ["doc:1#owner@user:ada", "group:1#member@user:bob"] });
});

const asked = [
  "doc:1#view@user:ada",
  "doc#view@user:ada",
  "doc:1#view@user",
  "doc:1#view@group#member",
];

async function askAll(): Promise<readonly string[]> {
  return await Promise.all(asked.map(async (each) => await outcomeOf(store, tenant, each)));
}

/** Asks until all answers are kept. */
async function keep(): Promise<void> {
  for (let times = 0; times < 4; times += 1) await askAll();
}

/** Asks several times, and compares with a store that keeps nothing. */
async function compare(what: string): Promise<void> {
  const expected = await Promise.all(
    asked.map(async (each) => await outcomeOf(scene.store, tenant, each)),
  );
  for (let times = 0; times < 3; times += 1) assert.deepEqual(await askAll(), expected, what);
}

/** Does something in a transaction of an application, and ends it. */
async function inTransaction(work: (query: Query) => Promise<void>, end: string): Promise<void> {
  const connection = await sql.reserve();
  try {
    await connection.unsafe("begin");
    await work(async (text, values = []) => {
      await connection.unsafe(text, [...values]);
    });
    await connection.unsafe(end);
  } finally {
    connection.release();
  }
}

type Query = (text: string, values?: readonly (string | string[])[]) => Promise<void>;

const writeTuples = "select pemba.write_tuples($1, $2::text[])";
const deleteTuples = "select pemba.delete_tuples($1, $2::text[])";

for (const end of ["commit", "rollback"]) {
  test(`a transaction that is prepared shows nothing until its ${end}`, async () => {
    await keep();
    const id = `kept-${end}`;
    const tuples = ["doc:2#owner@user:ada", "doc:1#owner@group:2#member"];
    await inTransaction(async (query) => {
      await query("savepoint inner_one");
      await query(writeTuples, [tenant, tuples]);
      await query("release inner_one");
    }, `prepare transaction '${id}'`);
    await compare("prepared");
    await write(store, tenant, { tuples: ["doc:3#owner@user:ada"] });
    await compare("prepared, and another one has written");
    const known = hits;
    await compare("again");
    assert.ok(hits > known);
    await sql.unsafe(`${end} prepared '${id}'`);
    await compare("ended");
  });
}

test("what a transaction did that ends beside many questions is in the next answer", async () => {
  await keep();
  for (let round = 0; round < 20; round += 1) {
    const isWritten = round % 2 === 1;
    const asking: Promise<readonly string[]>[] = [];
    await inTransaction(async (query) => {
      await query(isWritten ? writeTuples : deleteTuples, [tenant, ["doc:1#owner@user:ada"]]);
      asking.push(...Array.from({ length: 20 }, askAll));
    }, "commit");
    assert.deepEqual(await askAll(), isWritten ? ["true", "1", "ada", ""] : ["false", "", "", ""]);
    await Promise.all(asking);
  }
});

test("answers of a tenant that is hidden for a move are not given", async () => {
  await keep();
  const [{ number } = { number: 0 }] = await sql`select number from tenants where id = ${tenant}`;
  const mover = "00000000-0000-0000-0000-000000000001";
  await sql`insert into departures (number, id, mover) values (${number}, ${tenant}, ${mover})`;
  await sql`select hide_tenant(${number}, ${mover})`;
  assert.deepEqual(
    await askAll(),
    asked.map(() => "TENANT_NOT_FOUND"),
  );
  await sql`select show_tenant(${number}, ${mover})`;
  await compare("shown");
  await remove(store, tenant, { tuples: { type: "doc" } });
  await compare("removed");
});

test("a page behind which there is one more id is not taken for the whole list", async () => {
  await write(store, tenant, { tuples: ["doc:2#owner@user:ada", "doc:3#owner@user:ada"] });
  const page = async (limit: number) => await lookUp(store, tenant, "doc#view@user:ada", { limit });
  for (let times = 0; times < 4; times += 1) {
    const whole = await page(3);
    assert.deepEqual([whole.items, whole.next], [["1", "2", "3"], undefined]);
    const cut = await page(2);
    assert.deepEqual([cut.items, cut.next], [["1", "2"], "2"]);
  }
  await write(store, tenant, { tuples: ["doc:4#owner@user:ada"] });
  const cut = await page(3);
  assert.deepEqual([cut.items, cut.next], [["1", "2", "3"], "3"]);
});

test("a tuple that one transaction writes and deletes is there if that came last", async () => {
  await keep();
  for (const texts of [
    [deleteTuples, writeTuples, deleteTuples],
    [writeTuples, deleteTuples, writeTuples],
  ]) {
    await inTransaction(async (query) => {
      for (const text of texts) await query(text, [tenant, ["doc:1#owner@user:ada"]]);
    }, "commit");
    await compare(texts.join(", "));
  }
});

test("of more changes than a tail takes, the one that counts is not lost", async () => {
  await keep();
  const others = (user: string): string[] =>
    Array.from({ length: 300 }, (_, nth) => `doc:m${nth}#banned@user:${user}`);
  await write(store, tenant, { tuples: others("z") });
  await compare("of other documents");
  await write(store, tenant, { tuples: [...others("y"), "doc:1#banned@user:ada"] });
  await compare("and one of this");
});

test("answers under a named version are not those under the head", async () => {
  const schemaVersion = await store.schemas.write(tenant, { text: schema });
  await keep();
  const named = async (): Promise<readonly string[]> =>
    (await lookUp(store, tenant, "doc#view@user:ada", { schemaVersion })).items;
  for (let times = 0; times < 4; times += 1) assert.deepEqual(await named(), ["1"]);
  await store.schemas.write(tenant, { text: schema.replace("not banned", "") });
  await write(store, tenant, { tuples: ["doc:1#banned@user:ada"] });
  for (let times = 0; times < 4; times += 1) assert.deepEqual(await named(), []);
  await compare("under another head");
  await store.schemas.write(tenant, { text: schema });
  await compare("under the first text again");
});
