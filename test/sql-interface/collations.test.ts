/** Arguments have the collations of the columns that an application passes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import { attribute, newTenant, schemaText, write } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;
let tenant: TenantId;
/** Collations that are neither the default nor that of Pemba's columns. */
let collations: readonly string[];

before(async () => {
  scene = await openInterface({
    bound: true,
    questions: ["", "member"].map((subjectRelation) => ({
      entityType: "doc",
      permission: "view",
      subjectType: subjectRelation === "" ? "user" : "group",
      subjectRelation,
    })),
  });
  const { owner, store } = scene;
  const [icu] = await owner`select from pg_collation where collprovider = 'i' limit 1`;
  await owner`create schema app`;
  if (icu === undefined) {
    collations = [`"POSIX"`];
  } else {
    await owner`
      create collation app.alike (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
    `;
    collations = [`"POSIX"`, "app.alike"];
  }
  tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  await write(store, tenant, {
    tuples: ["doc:1#owner@user:ada", "doc:1#viewer@group:g#member", "group:g#member@user:bob"],
    attributes: [attribute("public", { type: "boolean", data: false })],
  });
});

after(async () => {
  await scene.close();
});

/** Calls, and what the rows of their results are. `t` is the tenant. */
const calls: Readonly<Record<string, readonly unknown[]>> = {
  "may(t, 'doc', '1', 'view', 'user', 'ada')": [true],
  "may(t, 'doc', '1', 'view', 'user', 'ADA')": [false],
  "may(t, 'doc', '1', 'view', 'group', 'g', 'member')": [true],
  "may_of(t, 'doc', array['1', '2'], 'view', 'user', 'bob')": ["1"],
  "visible(t, 'doc', 'view', 'user', 'bob')": ["1"],
  "visible_ids(t, 'doc', 'view', 'user', 'bob')": [["1"]],
  "visible_count(t, 'doc', 'view', 'user', 'bob')": [1],
  "who(t, 'doc', '1', 'view', 'user')": ["ada", "bob"],
  "my_may('doc', '1', 'view')": [true],
  "my_may_of('doc', array['1', '2'], 'view')": ["1"],
  "my_visible('doc', 'view')": ["1"],
  "my_visible_count('doc', 'view')": [1],
  "write_tuple(t, 'doc', '1', 'owner', 'user', 'ADA')": [true],
  "write_tuple(t, 'doc', '1', 'owner', 'user', 'ada')": [false],
  "write_tuple(t, 'doc', '1', 'OWNER', 'user', 'ada')": ["PB005"],
  "write_tuple(t, 'doc', '1 2', 'owner', 'user', 'ada')": ["PB005"],
  "write_tuples(t, array['doc:1#owner@user:ADA', 'doc:1#owner@user:ada', 'doc:2#owner@user:a'])": [
    2,
  ],
  "write_tuples(t, array['doc:1#owners@user:ada'])": ["PB005"],
  "delete_tuples(t, array['doc:1#owner@user:ADA', 'doc:1#viewer@group:g#member'])": [1],
  "delete_tuples(t, array['doc:1'])": ["PB005"],
  "delete_entity(t, 'doc', '1')": [3],
  "delete_entity(t, 'doc', '1 2')": ["PB005"],
  "write_attributes(t, attributes)": [1],
  "delete_attributes(t, array['doc:1$public', 'doc:1$PUBLIC', 'doc:2$public'])": [1],
  "delete_attributes(t, array['doc:1'])": ["PB005"],
  "token(t) is not null": [true],
};

const attributes = JSON.stringify([
  {
    entity: { type: "doc", id: "1" },
    attribute: "public",
    value: { "@type": "base.v1.BooleanValue", data: true },
  },
]);

/** The rows of the result of a call, or the code of its error; what it changed is undone. */
async function resultOf(call: string): Promise<readonly unknown[]> {
  const { owner } = scene;
  let found: readonly unknown[] = [];
  const undo = new Error("undo");
  try {
    await owner.begin(async (inside) => {
      await inside`
        select set_config('pemba.tenant', ${tenant}, true),
          set_config('pemba.subject', 'bob', true)
      `;
      // Arguments of several collations leave the result without one, and it could not be sorted.
      const rows = await inside.unsafe(
        `select found from (select pemba.${call} as found) as calls order by found::text collate "C"`,
      );
      found = rows.map((row): unknown => row["found"]);
      throw undo;
    });
  } catch (error) {
    if (error === undo) return found;
    if (error instanceof postgres.PostgresError) return [error.code];
    throw error;
  }
  return assert.fail("the transaction is undone");
}

/** A call with arguments of these collations, one after the other. */
function withCollations(call: string, given: readonly string[]): string {
  let place = 0;
  return call
    .replace(/\bt\b/, `'${tenant}'`)
    .replaceAll(/array\[[^\]]*\]|'[^']*'/g, (value) => {
      place += 1;
      return `(select ${value} collate ${given[place % given.length]})`;
    })
    .replace("attributes)", `'${attributes}')`);
}

test("the collations of arguments change no answer", async () => {
  for (const [call, expected] of Object.entries(calls)) {
    for (const given of [...collations.map((each) => [each]), collations]) {
      const text = withCollations(call, given);
      assert.deepEqual(await resultOf(text), expected, text);
    }
  }
  const rows = await scene.owner<{ name: string }[]>`
    select distinct p.proname as name
    from pg_proc as p
    where p.pronamespace = 'pemba'::regnamespace and p.pronargs > 0
      -- What only printed functions call.
      and p.proname !~ '^list_|_derived|_map$'
  `;
  for (const { name } of rows) {
    assert.ok(
      Object.keys(calls).some((call) => call.startsWith(`${name}(`)),
      name,
    );
  }
});
