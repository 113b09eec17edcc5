import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import type postgres from "postgres";

import { noTelemetry } from "../../src/base/telemetry.ts";
import {
  type Context,
  emptyContext,
  type SchemaVersion,
  type TenantId,
} from "../../src/base/tuple.ts";
import { statementName } from "../../src/store/postgres/connect/statement-file.ts";
import type { Store } from "../../src/store/store.ts";
import { attribute, fails, newTenant, openPostgres, tuple, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { beginDelete, beginWrite, connect } from "./open-write.ts";

const schema = `
  entity user {}
  entity group {
    relation member @user @group#member
  }
  entity folder {
    relation viewer @user @group#member
    attribute open boolean
    permission view = viewer or open
  }
  entity doc {
    relation owner @user
    relation folder @folder
    relation draft @user
    attribute level integer
    permission view = owner or folder.view or high(level)
  }
  rule high(level integer) {
    level > 3
  }
`;

let store: Store;
let sql: postgres.Sql;
let close: () => Promise<void>;
let tenant: TenantId;
let hits = 0;
let misses = 0;
/** The statements that were sent, by the name of their file where they have one. */
const sent: string[] = [];

before(async () => {
  const opened = await openPostgres({
    cache: { maxBytes: 1_000_000, maxEntries: 1_000 },
    slots: 4,
    onStatement: (text) => sent.push(statementName(text) ?? "of a plan"),
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") hits += amount;
        if (name === "pemba.answer.cache.misses") misses += amount;
      },
    },
  });
  ({ store } = opened);
  sql = connect(opened.url);
  close = async () => {
    await sql.end({ timeout: 1 });
    await opened.close();
  };
});

after(() => close());

beforeEach(async () => {
  tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schema });
  await write(store, tenant, {
    tuples: [
      "doc:1#folder@folder:1",
      "folder:1#viewer@group:1#member",
      "group:1#member@group:2#member",
      "group:2#member@user:ada",
    ],
  });
});

async function check(
  asked: string,
  { schemaVersion, context }: { schemaVersion?: SchemaVersion; context?: Context } = {},
): Promise<boolean> {
  const { entity, relation, subject } = tuple(asked);
  const [answer] = await store.permissions.check(tenant, {
    schemaVersion,
    snapToken: undefined,
    depth: 100,
    context: context ?? emptyContext,
    items: [{ entity, permission: relation, subject, arguments: [] }],
    path: (_item, field) => field,
  });
  return answer?.allowed ?? assert.fail("no answer");
}

/** Asks until the answer is kept. Resolves to it. */
async function keep(asked: string): Promise<boolean> {
  await check(asked);
  return await check(asked);
}

/** Asks once; `isKept` says whether that was answered from the cache. */
async function ask(
  asked: string,
): Promise<{ readonly allowed: boolean; readonly isKept: boolean }> {
  const known = hits;
  return { allowed: await check(asked), isKept: hits > known };
}

const kept = { allowed: true, isKept: true };
const found = { allowed: true, isKept: false };
const lost = { allowed: false, isKept: false };

/** What one reading of tails sends, depending on what others do on the server. */
const oneReading = new Set(["changes/quiet", "changes/since", "changes/quiet changes/since"]);

test("a check that comes again costs one small statement from the third time on", async () => {
  await check("doc:1#view@user:bob");
  sent.length = 0;
  for (let times = 0; times < 4; times += 1) await check("doc:1#view@user:ada");
  const read = sent.filter((name) => name !== "changes/quiet");
  assert.deepEqual(read.slice(0, 3), ["of a plan", "changes/since", "of a plan"]);
  // Others may use the server: then a tail is read, and not only that nothing changed.
  assert.deepEqual(
    read.slice(3),
    read.slice(3).map(() => "changes/since"),
  );
  assert.ok(sent.length >= 5 && sent.length <= 7, sent.join(" "));
});

test("a check that comes once costs nothing beside its statement, and is not counted", async () => {
  await check("doc:1#view@user:ada");
  const known = misses;
  sent.length = 0;
  for (let nth = 0; nth < 20; nth += 1) await check(`doc:1#view@user:once${nth}`);
  assert.deepEqual(new Set(sent), new Set(["of a plan"]));
  assert.equal(sent.length, 20);
  assert.equal(misses, known);
});

test("checks that wait at the same time share the statement that reads what changed", async () => {
  const asked = ["ada", "bob", "eve"].map((user) => `doc:1#view@user:${user}`);
  for (const each of asked) await keep(each);
  sent.length = 0;
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, nth) => await check(asked[nth % 3] ?? "")),
  );
  assert.deepEqual(
    answers,
    answers.map((_, nth) => nth % 3 === 0),
  );
  assert.ok(oneReading.has(sent.join(" ")), sent.join(" "));
});

test("what a change can touch is asked again", async () => {
  const asked = "doc:1#view@user:ada";
  assert.equal(await keep(asked), true);
  await remove(store, tenant, { tuples: { type: "group", ids: ["2"] } });
  assert.deepEqual(await ask(asked), lost);
  await write(store, tenant, { attributes: [attribute("level", { type: "integer", data: 4 })] });
  assert.deepEqual(await ask(asked), found);
  await remove(store, tenant, { attributes: { type: "doc", ids: ["1"], names: ["level"] } });
  assert.deepEqual(await ask(asked), lost);
  await write(store, tenant, {
    attributes: [
      {
        entity: { type: "folder", id: "1" },
        attribute: "open",
        value: { type: "boolean", data: true },
      },
    ],
  });
  assert.deepEqual(await ask(asked), found);
});

test("what a change cannot touch stays kept", async () => {
  const asked = "doc:1#view@user:ada";
  assert.equal(await keep(asked), true);
  const others = [
    // Of another document, of another user, and of a relation that the permission does not read.
    "doc:2#folder@folder:1",
    "group:2#member@user:bob",
    "doc:1#draft@user:ada",
    "doc:1#owner@user:eve",
  ];
  for (const other of others) {
    await write(store, tenant, { tuples: [other] });
    assert.deepEqual(await ask(asked), kept, other);
  }
  await write(store, tenant, { tuples: ["group:3#member@group:4#member"] });
  assert.deepEqual(await ask(asked), found);
});

test("a userset as subject is touched by changes of others like it", async () => {
  const asked = "doc:1#view@group:2#member";
  assert.equal(await keep(asked), true);
  await remove(store, tenant, { tuples: { type: "folder", ids: ["1"] } });
  assert.deepEqual(await ask(asked), lost);
});

test("a transaction that began early and is committed late is seen at once", async () => {
  const asked = "doc:1#view@user:ada";
  assert.equal(await keep(asked), true);
  const open = await beginDelete(sql, tenant, "group:2#member@user:ada");
  // Others pass it: the state of the answer moves on, and does not show it.
  for (let nth = 0; nth < 3; nth += 1) {
    await write(store, tenant, { tuples: [`doc:2${nth}#folder@folder:1`] });
    assert.deepEqual(await ask(asked), kept);
  }
  await open.commit();
  assert.deepEqual(await ask(asked), lost);
});

test("a transaction that is undone changes nothing", async () => {
  const asked = "doc:1#view@user:ada";
  assert.equal(await keep(asked), true);
  const open = await beginWrite(sql, tenant, { tuples: ["group:3#member@group:4#member"] });
  assert.deepEqual(await ask(asked), kept);
  await open.undo();
  assert.deepEqual(await ask(asked), kept);
});

test("a new head makes new answers, and a named version keeps its own", async () => {
  const asked = "doc:1#view@user:ada";
  const version = (await store.schemas.list(tenant, { before: undefined, limit: 1 })).items[0]
    ?.version;
  assert.ok(version !== undefined);
  assert.equal(await keep(asked), true);
  for (let times = 0; times < 2; times += 1) await check(asked, { schemaVersion: version });
  await store.schemas.write(tenant, { text: schema.replace(" or folder.view", "") });
  assert.deepEqual(await ask(asked), lost);
  const known = hits;
  assert.equal(await check(asked, { schemaVersion: version }), true);
  assert.equal(hits, known + 1);
});

test("a tenant that is gone has no answers, and one of the same name has its own", async () => {
  const asked = "doc:1#view@user:ada";
  assert.equal(await keep(asked), true);
  await store.tenants.delete(tenant);
  await fails(check(asked), "TENANT_NOT_FOUND");
  await store.tenants.create({ id: tenant, name: "" });
  await fails(check(asked), "SCHEMA_NOT_FOUND");
  await store.schemas.write(tenant, { text: schema });
  assert.deepEqual(await ask(asked), lost);
});

test("an answer that is older than the history that is kept is found anew", async (t) => {
  // Transactions in other databases may still be open that began before it.
  t.after(async () => await sql`update installation set horizon = '0'`);
  const asked = "doc:1#view@user:ada";
  assert.equal(await keep(asked), true);
  await remove(store, tenant, { tuples: { type: "group", ids: ["2"] } });
  await sql`update installation set horizon = pg_snapshot_xmax(pg_current_snapshot())`;
  await sql`delete from changes where xid < (select horizon from installation)`;
  assert.deepEqual(await ask(asked), lost);
});

test("many changes at once make all answers of the tenant new", async () => {
  const asked = "doc:1#view@user:ada";
  assert.equal(await keep(asked), true);
  const drafts = Array.from({ length: 200 }, (_, nth) => `doc:3#draft@user:${nth}`);
  await write(store, tenant, { tuples: drafts });
  assert.deepEqual(await ask(asked), found);
  assert.deepEqual(await ask(asked), kept);
});

test("a check with a context is not kept", async () => {
  const context = { ...emptyContext, tuples: [tuple("doc:5#owner@user:ada")] };
  const known = hits;
  for (let times = 0; times < 3; times += 1) {
    assert.equal(await check("doc:5#view@user:ada", { context }), true);
  }
  assert.equal(await check("doc:5#view@user:ada"), false);
  assert.equal(hits, known);
});

test("a check that one probe answers is searched while it is alone and others write, and kept for several", async () => {
  await write(store, tenant, { tuples: ["doc:1#owner@user:ada", "doc:1#owner@user:bob"] });
  const asked = ["doc:1#owner@user:ada", "doc:1#owner@user:bob", "doc:1#owner@user:eve"];
  for (const each of asked) await keep(each);
  const before = hits;
  for (let nth = 0; nth < 31; nth += 1) {
    await write(store, tenant, { tuples: [`doc:${nth}#draft@user:ada`] });
    assert.equal(await check("doc:1#owner@user:ada"), true);
  }
  // It is looked in vain once, and then after 1, 3, 7 and 15 others at the earliest.
  assert.ok(hits - before <= 5, `${hits - before} hits`);
  const known = hits;
  const answers = await Promise.all(asked.map(async (each) => await check(each)));
  assert.deepEqual(answers, [true, true, false]);
  assert.ok(hits > known);
});
