/**
 * Lookups of the present state whose answers are kept: when one is given again, and when it is found anew.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import type postgres from "postgres";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { statementName } from "../../src/store/postgres/connect/statement-file.ts";
import type { Store } from "../../src/store/store.ts";
import { lookUp, outcomeOf } from "./asked-text.ts";
import { attribute, newTenant, openPostgres, tuple, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { beginWrite, connect } from "./open-write.ts";

const schema = `
  entity user {}
  entity group {
    relation member @user @group#member
  }
  entity folder {
    relation viewer @user @group#member
    attribute open boolean
    permission view = viewer
    permission see = viewer or open
  }
  entity doc {
    relation owner @user
    relation folder @folder
    relation banned @user
    relation draft @user
    attribute level integer
    permission view = (owner or folder.view) not banned
    permission high = high(level)
    permission fresh = low(level)
  }
  rule high(level integer) {
    level > 3
  }
  rule low(level integer) {
    level < 3
  }
`;

let store: Store;
let sql: postgres.Sql;
let close: () => Promise<void>;
let tenant: TenantId;
let hits = 0;
/** The statements that were sent, by the name of their file where they have one. */
const sent: string[] = [];

before(async () => {
  const opened = await openPostgres({
    cache: { maxBytes: 200_000, maxEntries: 1_000 },
    slots: 4,
    onStatement: (text) => sent.push(statementName(text) ?? "of a plan"),
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") hits += amount;
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
      "doc:2#owner@user:ada",
      "folder:1#viewer@group:1#member",
      "group:1#member@group:2#member",
      "group:2#member@user:ada",
      "group:2#member@user:bob",
    ],
  });
});

/** Asks until the answer is kept. Resolves to it. */
async function keep(asked: string): Promise<string> {
  await outcomeOf(store, tenant, asked);
  return await outcomeOf(store, tenant, asked);
}

/** Asks once; `isKept` says whether that was answered from the cache. */
async function ask(asked: string): Promise<{ readonly ids: string; readonly isKept: boolean }> {
  const known = hits;
  return { ids: await outcomeOf(store, tenant, asked), isKept: hits > known };
}

const kept = (ids: string) => ({ ids, isKept: true });
const found = (ids: string) => ({ ids, isKept: false });

/** What one reading of tails sends, depending on what others do on the server. */
const oneReading = new Set(["changes/quiet", "changes/since", "changes/quiet changes/since"]);

const ofAda = "doc#view@user:ada";
const ofDoc = "doc:1#view@user";

test("a lookup that comes again costs one small statement from the third time on", async () => {
  for (const [asked, ids] of [
    [ofAda, "1 2"],
    [ofDoc, "ada bob"],
    ["doc#view@user:eve", ""],
  ] as const) {
    await outcomeOf(store, tenant, asked);
    await outcomeOf(store, tenant, asked);
    for (let times = 0; times < 3; times += 1) {
      sent.length = 0;
      assert.deepEqual(await ask(asked), kept(ids));
      assert.ok(oneReading.has(sent.join(" ")), sent.join(" "));
    }
  }
});

test("lookups and checks that wait at the same time share the statement that reads what changed", async () => {
  const asked = [ofAda, ofDoc, "doc:1#view@user:ada"];
  for (const each of asked) await keep(each);
  sent.length = 0;
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, nth) => await ask(asked[nth % 3] ?? "")),
  );
  assert.deepEqual(new Set(answers.map(({ ids }) => ids)), new Set(["1 2", "ada bob", "true"]));
  assert.ok(oneReading.has(sent.join(" ")), sent.join(" "));
});

test("a lookup of entities is found anew after what concerns its subject, and kept after the rest", async () => {
  assert.equal(await keep(ofAda), "1 2");
  for (const other of [
    "group:2#member@user:eve",
    "doc:3#owner@user:bob",
    "doc:2#draft@user:ada",
    "doc:1#banned@user:bob",
  ]) {
    await write(store, tenant, { tuples: [other] });
    assert.deepEqual(await ask(ofAda), kept("1 2"), other);
  }
  await write(store, tenant, { tuples: ["doc:3#owner@user:ada"] });
  assert.deepEqual(await ask(ofAda), found("1 2 3"));
  await write(store, tenant, { tuples: ["doc:4#folder@folder:1"] });
  assert.deepEqual(await ask(ofAda), found("1 2 3 4"));
  await write(store, tenant, { tuples: ["doc:1#banned@user:ada"] });
  assert.deepEqual(await ask(ofAda), found("2 3 4"));
});

test("a lookup of subjects is found anew after what concerns its entity, and kept after the rest", async () => {
  assert.equal(await keep(ofDoc), "ada bob");
  for (const other of ["doc:2#owner@user:eve", "doc:2#banned@user:bob", "doc:1#draft@user:eve"]) {
    await write(store, tenant, { tuples: [other] });
    assert.deepEqual(await ask(ofDoc), kept("ada bob"), other);
  }
  await write(store, tenant, { tuples: ["doc:1#banned@user:bob"] });
  assert.deepEqual(await ask(ofDoc), found("ada"));
  await remove(store, tenant, { tuples: { type: "group", ids: ["2"] } });
  assert.deepEqual(await ask(ofDoc), found(""));
});

test("of a permission that holds for every subject, one that becomes known is found", async () => {
  const asked = "folder:1#see@user";
  const value = { type: "boolean", data: true } as const;
  await write(store, tenant, {
    attributes: [{ entity: { type: "folder", id: "1" }, attribute: "open", value }],
  });
  assert.equal(await keep(asked), "ada bob");
  await write(store, tenant, { tuples: ["doc:5#draft@user:eve"] });
  assert.deepEqual(await ask(asked), found("ada bob eve"));
  await remove(store, tenant, { tuples: { type: "doc", ids: ["5"] } });
  assert.deepEqual(await ask(asked), found("ada bob"));
});

test("of a rule that holds without attributes, an entity that becomes known is found", async () => {
  const asked = "doc#fresh@user:ada";
  assert.equal(await keep(asked), "1 2");
  await write(store, tenant, { tuples: ["doc:5#draft@user:eve"] });
  assert.deepEqual(await ask(asked), found("1 2 5"));
  await write(store, tenant, { attributes: [attribute("level", { type: "integer", data: 4 })] });
  assert.deepEqual(await ask(asked), found("2 5"));
  assert.equal(await keep("doc#high@user:ada"), "1");
});

test("a new head and a transaction that is committed late are seen at once", async () => {
  assert.equal(await keep(ofAda), "1 2");
  const open = await beginWrite(sql, tenant, { tuples: ["doc:3#owner@user:ada"] });
  await write(store, tenant, { tuples: ["doc:4#owner@user:bob"] });
  assert.deepEqual(await ask(ofAda), kept("1 2"));
  await open.commit();
  assert.deepEqual(await ask(ofAda), found("1 2 3"));
  assert.deepEqual(await ask(ofAda), kept("1 2 3"));
  await store.schemas.write(tenant, { text: schema.replace("owner or folder.view", "owner") });
  assert.deepEqual(await ask(ofAda), found("2 3"));
});

test("a lookup of a tenant that is gone is refused, and one of the same name has its own", async () => {
  assert.equal(await keep(ofAda), "1 2");
  await store.tenants.delete(tenant);
  assert.deepEqual(await ask(ofAda), found("TENANT_NOT_FOUND"));
  await store.tenants.create({ id: tenant, name: "" });
  await store.schemas.write(tenant, { text: schema });
  assert.deepEqual(await ask(ofAda), found(""));
});

test("of lookups with other limits, depths and ends each has its own answer", async () => {
  for (let times = 0; times < 3; times += 1) {
    assert.deepEqual((await lookUp(store, tenant, ofAda, { limit: 2 })).items, ["1", "2"]);
    assert.deepEqual((await lookUp(store, tenant, ofAda, { limit: 1 })).items, ["1"]);
    assert.equal(await outcomeOf(store, tenant, "group#member@user:ada"), "1 2");
    assert.equal(await outcomeOf(store, tenant, "group:1#member@user"), "ada bob");
    assert.equal(await outcomeOf(store, tenant, "group:1#member@group#member"), "1 2");
    await assert.rejects(lookUp(store, tenant, ofAda, { depth: 1 }), { code: "DEPTH_NOT_ENOUGH" });
  }
});

test("what is not a whole lookup of stored data is not kept", async () => {
  const context = { ...emptyContext, tuples: [tuple("doc:9#owner@user:ada")] };
  const scope = new Map([["doc", ["2"]]]);
  const { snapToken } = await lookUp(store, tenant, ofAda);
  const known = hits;
  for (let times = 0; times < 4; times += 1) {
    const idsOf = async (given: Parameters<typeof lookUp>[3]): Promise<readonly string[]> =>
      (await lookUp(store, tenant, ofAda, given)).items;
    assert.deepEqual(await idsOf({ context }), ["1", "2", "9"]);
    assert.deepEqual(await idsOf({ scope }), ["2"]);
    assert.deepEqual(await idsOf({ limit: 1 }), ["1"]);
    assert.deepEqual(await idsOf({ after: "1" }), ["2"]);
    assert.deepEqual(await idsOf({ snapToken }), ["1", "2"]);
    assert.deepEqual(await idsOf({ resumable: true }), ["1", "2"]);
  }
  assert.equal(hits, known);
});

test("a lookup that would take much of the memory is not kept, and pushes out nothing", async () => {
  assert.equal(await keep(ofAda), "1 2");
  const id = (nth: number): string => `${"x".repeat(60)}${nth}`;
  await write(store, tenant, {
    tuples: Array.from({ length: 200 }, (_, nth) => `doc:${id(nth)}#owner@user:eve`),
  });
  const known = hits;
  for (let times = 0; times < 4; times += 1) {
    assert.equal((await outcomeOf(store, tenant, "doc#view@user:eve")).split(" ").length, 200);
  }
  assert.equal(hits, known);
  assert.equal((await ask(ofAda)).ids, "1 2");
  assert.deepEqual(await ask(ofAda), kept("1 2"));
});
