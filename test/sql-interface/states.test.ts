/** Which state of the data and which schema an answer is of. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { collectGarbage } from "../../src/store/postgres/garbage.ts";
import { readSchema } from "../../src/store/postgres/schemas.ts";
import { readInterface } from "../../src/store/postgres/sql-interface/install.ts";
import { SqlInterface } from "../../src/store/postgres/sql-interface/sql-interface.ts";
import { newTenant, pool, schemaText, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { type InterfaceScene, interfaceOptions, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;
let tenant: TenantId;

before(async () => {
  scene = await openInterface();
});

after(async () => {
  await scene.close();
});

async function freshTenant(): Promise<TenantId> {
  const id = await newTenant(scene.store);
  await scene.store.schemas.write(id, { text: schemaText });
  await write(scene.store, id, { tuples: ["doc:1#owner@user:a"] });
  return id;
}

test("a transaction sees its own writes, and others do not before its end", async () => {
  tenant = await freshTenant();
  const { owner, app } = scene;
  const seen = async (sql: typeof app | postgres.TransactionSql): Promise<readonly string[]> => {
    const rows = await sql<{ id: string }[]>`
      select v.id from pemba.visible(${tenant}, 'doc', 'view', 'user', 'a') as v(id) order by v.id
    `;
    return rows.map(({ id }) => id);
  };
  await owner.begin(async (inside) => {
    await inside`
      insert into relationships
      select number, 'doc', '2', 'owner', 'user', 'a', '', pg_current_xact_id()
      from tenants where id = ${tenant}
    `;
    assert.deepEqual(await seen(inside), ["1", "2"]);
    assert.deepEqual(await seen(app), ["1"]);
  });
  assert.deepEqual(await seen(app), ["1", "2"]);
});

test("under REPEATABLE READ data and schema are those of the snapshot", async () => {
  tenant = await freshTenant();
  const { app, store } = scene;
  await app.begin("isolation level repeatable read", async (inside) => {
    const may = async (permission: string, sql = inside): Promise<unknown> => {
      const [row] = await sql`
        select pemba.may(${tenant}, 'doc', '1', ${permission}, 'user', 'b') as may
      `;
      return row?.["may"];
    };
    assert.equal(await may("view"), false);
    const renamed = schemaText.replace("permission view", "permission look");
    await store.schemas.write(tenant, { text: renamed });
    await write(store, tenant, { tuples: ["doc:1#owner@user:b"] });
    assert.equal(await may("view"), false);
    await assert.rejects(
      inside.savepoint((nested) => may("look", nested)),
      { code: "PB001" },
    );
  });
  const [row] = await app`
    select pemba.may(${tenant}, 'doc', '1', 'look', 'user', 'b') as may
  `;
  assert.equal(row?.["may"], true);
});

test("functions go when no version of the window leads to them", async () => {
  tenant = await freshTenant();
  const { owner, store } = scene;
  const database = await Database.connect({ url: scene.url, pool, warn: () => {} });
  try {
    const { names } = await readInterface(scene.url, "pemba");
    const schemas = new CompiledSchemas((id, version) => readSchema(database, id, version), {
      maxBytes: 1_000_000,
    });
    const sqlInterface = new SqlInterface({ database, schemas }, names, interfaceOptions);
    const functions = async (): Promise<number> => {
      const [row] = await owner<{ made: number; known: number }[]>`
        select
          (
            select count(*)::int from pg_proc
            where pronamespace = 'pemba_plans'::regnamespace and proname ~ '_[0-9a-f]{24}$'
          ) as made,
          (select count(*)::int from pemba_plans.plans) as known
      `;
      assert.equal(row?.made, row?.known);
      return row?.made ?? 0;
    };
    const before = await functions();
    await store.schemas.write(tenant, {
      text: "entity user {}\nentity odd { relation one @user\n relation two @user\n permission both = one and two }",
    });
    const between = await functions();
    assert.ok(between > before);
    await store.schemas.write(tenant, { text: schemaText });
    assert.equal(await sqlInterface.removeUnused(3_600_000), 0);
    assert.equal(await functions(), between);
    // The clock of the server goes on past the moment of the write.
    await until(async () => (await sqlInterface.removeUnused(1)) > 0 || undefined);
    assert.ok((await functions()) <= before);
    const [row] = await owner`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as may`;
    assert.equal(row?.["may"], true);
    await collectGarbage(database, { windowMs: 3_600_000, timeoutMs: 60_000, byLog: false });
  } finally {
    await database.close();
  }
});

test("the questions of a deleted tenant go with it", async () => {
  tenant = await freshTenant();
  const { owner, store } = scene;
  const [number] = await owner<{ number: string }[]>`
    select number::text from tenants where id = ${tenant}
  `;
  await store.tenants.delete(tenant);
  await until(async () => {
    const rows = await owner`
      select from pemba_plans.questions where tenant = ${String(number?.number)}::bigint
      union all
      select from pemba_plans.versions where tenant = ${String(number?.number)}::bigint
    `;
    return rows.length === 0 || undefined;
  });
});
