import assert from "node:assert/strict";
import { test } from "node:test";

import type { SchemaVersion, TenantId } from "../../src/base/tuple.ts";
import {
  type CompiledSchema,
  CompiledSchemas,
  type SchemaCacheLimits,
} from "../../src/store/compiled-schemas.ts";
import { schemaNotFound } from "../../src/store/store-error.ts";
import { fails, tenantId } from "./engines.ts";

const one = tenantId("one");
const other = tenantId("other");
const [v1, v2] = ["1" as SchemaVersion, "2" as SchemaVersion];
const textOne = "entity user {}";
const textTwo = "entity user {} entity doc {}";

interface Source {
  readonly schemas: CompiledSchemas;
  /** What was asked of the store, as `tenant version`. */
  readonly loads: string[];
  /** Texts by `tenant version`; the head is `tenant `. */
  readonly stored: Map<string, readonly [SchemaVersion, string]>;
  /** What an answer of the store waits for, once it is known. */
  readonly held: Promise<void>[];
}

function open(maxBytes = 1_000_000, maxEntries?: SchemaCacheLimits["maxEntries"]): Source {
  const loads: string[] = [];
  const stored = new Map<string, readonly [SchemaVersion, string]>();
  const held: Promise<void>[] = [];
  const load = async (tenant: TenantId, version: SchemaVersion | undefined) => {
    const key = `${tenant} ${version ?? ""}`;
    loads.push(key);
    const found = stored.get(key);
    await held.shift();
    if (found === undefined) throw schemaNotFound(tenant, version);
    // As a database, it answers later.
    await Promise.resolve();
    return { version: found[0], text: found[1], createdAt: new Date() };
  };
  return { schemas: new CompiledSchemas(load, { maxBytes, maxEntries }), loads, stored, held };
}

/** As `find`, but always with a promise. */
async function find(
  schemas: CompiledSchemas,
  tenant: TenantId,
  version?: SchemaVersion,
): Promise<CompiledSchema> {
  return await schemas.find(tenant, version);
}

test("the head is loaded once, also for those who ask at the same time", async () => {
  const { schemas, loads, stored } = open();
  stored.set("one ", [v1, textOne]);
  const heads = await Promise.all([1, 2, 3].map(async () => await find(schemas, one)));
  heads.push(await find(schemas, one));
  assert.deepEqual(loads, ["one "]);
  for (const head of heads) assert.equal(head.version, v1);
});

test("the guess follows what a statement has said", async () => {
  const { schemas, loads, stored } = open();
  stored.set("one ", [v1, textOne]);
  stored.set(`one ${v2}`, [v2, textTwo]);
  await find(schemas, one);
  schemas.seenHead(one, v2, v1);
  const head = await find(schemas, one);
  assert.equal(head.version, v2);
  assert.ok(head.schema.entities.has("doc"));
  assert.deepEqual(loads, ["one ", `one ${v2}`]);
  schemas.seenHead(one, undefined, v2);
  assert.equal((await find(schemas, one)).version, v1);
});

test("what was asked before a newer head was seen does not bring back an older one", async () => {
  const { schemas, stored } = open();
  stored.set("one ", [v1, textOne]);
  stored.set(`one ${v2}`, [v2, textTwo]);
  const first = find(schemas, one);
  schemas.seenHead(one, v2, undefined);
  await first;
  assert.equal(schemas.knownHead(one), v2);
  schemas.seenHead(one, v1, undefined);
  schemas.seenHead(one, undefined, v1);
  assert.equal((await find(schemas, one)).version, v2);
});

test("the head goes back when the storage says so of the one that was seen, and when it is forgotten", async () => {
  const { schemas, stored } = open();
  stored.set(`one ${v1}`, [v1, textOne]);
  schemas.seenHead(one, v2, undefined);
  schemas.seenHead(one, v1, v2);
  assert.equal((await find(schemas, one)).version, v1);
  schemas.seenHead(one, v2, v1);
  schemas.forget(one);
  schemas.seenHead(one, v1, undefined);
  assert.equal(schemas.knownHead(one), v1);
});

test("tenants and versions with the same text share one compiled schema", async () => {
  const { schemas, stored } = open();
  stored.set("one ", [v1, textOne]);
  stored.set("other ", [v2, textOne]);
  const [left, right] = [await find(schemas, one), await find(schemas, other)];
  assert.equal(left.schema, right.schema);
  assert.deepEqual([left.version, right.version], [v1, v2]);
});

test("a version stays known after the head moved on", async () => {
  const { schemas, loads, stored } = open();
  stored.set("one ", [v1, textOne]);
  await find(schemas, one);
  await find(schemas, one, v1);
  assert.deepEqual(loads, ["one "]);
});

test("nothing is known of a forgotten tenant, and all of the others", async () => {
  const { schemas, loads, stored } = open();
  stored.set("one ", [v1, textOne]);
  stored.set("other ", [v2, textTwo]);
  await find(schemas, one);
  await find(schemas, other);
  schemas.forget(one);
  stored.delete("one ");
  await fails(find(schemas, one), "SCHEMA_NOT_FOUND");
  await fails(find(schemas, one, v1), "SCHEMA_NOT_FOUND");
  await find(schemas, other);
  assert.deepEqual(loads, ["one ", "other ", "one ", `one ${v1}`]);
});

test("a text larger than the memory is kept alone, and compiled again once it was pushed out", async () => {
  const { schemas, loads, stored } = open(1);
  stored.set("one ", [v1, textOne]);
  stored.set(`one ${v1}`, [v1, textOne]);
  stored.set("other ", [v2, textTwo]);
  assert.equal((await find(schemas, one)).version, v1);
  assert.equal((await find(schemas, one, v1)).version, v1);
  assert.deepEqual(loads, ["one "]);
  await find(schemas, other);
  assert.ok((await find(schemas, one, v1)).schema.entities.has("user"));
  assert.deepEqual(loads, ["one ", "other ", `one ${v1}`]);
});

test("a load that failed is not remembered", async () => {
  const { schemas, stored } = open();
  await fails(find(schemas, one), "SCHEMA_NOT_FOUND");
  stored.set("one ", [v1, textOne]);
  assert.equal((await find(schemas, one)).version, v1);
});

test("that a schema is not there is not believed from a load that began before the question", async () => {
  const { schemas, loads, stored, held } = open();
  const answer = Promise.withResolvers<void>();
  held.push(answer.promise);
  const before = find(schemas, one);
  stored.set("one ", [v1, textOne]);
  const after = [1, 2, 3].map(async () => await find(schemas, one));
  answer.resolve();
  await fails(before, "SCHEMA_NOT_FOUND");
  for (const found of await Promise.all(after)) assert.equal(found.version, v1);
  assert.deepEqual(loads, ["one ", "one "]);
});

test("a schema that is not there costs those who ask together two loads", async () => {
  const { schemas, loads } = open();
  for (const asked of [1, 2, 3].map(async () => await find(schemas, one, v1))) {
    await fails(asked, "SCHEMA_NOT_FOUND");
  }
  assert.deepEqual(loads, [`one ${v1}`, `one ${v1}`]);
});

test("no more texts stay compiled than the cache may have entries, however small they are", async () => {
  const { schemas, loads, stored } = open(1_000_000, 1);
  stored.set("one ", [v1, textOne]);
  stored.set("other ", [v2, textTwo]);
  stored.set(`one ${v1}`, [v1, textOne]);
  await find(schemas, one);
  await find(schemas, one);
  await find(schemas, other);
  await find(schemas, other);
  await find(schemas, one);
  assert.deepEqual(loads, ["one ", "other ", `one ${v1}`]);
});
