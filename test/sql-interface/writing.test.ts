/** Tuples and attributes that an application writes in its own transaction. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import { changesOf, replay, storedState } from "../store/change-log.ts";
import { newTenant, tenantWithSchema, write } from "../store/engines.ts";
import { remove } from "../store/filters.ts";
import { untilWaiting } from "../store/open-write.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;

before(async () => {
  scene = await openInterface();
});

after(async () => {
  await scene.close();
});

/** What is stored of a tenant, without ids of transactions. */
async function stored(tenant: TenantId): Promise<readonly string[]> {
  const state = await storedState(scene.owner, tenant);
  return [...state].map(([key, value]) => `${key.trim()} ${value.split(" ")[0]}`.trim()).toSorted();
}

const boolean = (data: unknown): object => ({ "@type": "base.v1.BooleanValue", data });

test("each function says how much it has changed, and its transaction sees it", async () => {
  const tenant = await tenantWithSchema(scene.store);
  const attributes = JSON.stringify([
    { entity: { type: "doc", id: "1" }, attribute: "public", value: boolean(true) },
    { entity: { type: "doc", id: "1" }, attribute: "public", value: boolean(true) },
    {
      entity: { type: "doc", id: "2" },
      attribute: "tags",
      value: { "@type": "type.googleapis.com/base.v1.StringArrayValue", data: ["a"] },
    },
  ]);
  const tuples = [
    "doc:1#owner@user:ada",
    " doc:a:b@c#viewer@group:x#member ",
    "doc:3#owner@user:x#...",
  ];
  await scene.app.begin(async (inside) => {
    const [row] = await inside`
      select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'ada') as made,
        pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'ada') as again,
        pemba.write_tuple(${tenant}, 'doc', '9', 'viewer', 'group', 'g', 'member') as userset,
        pemba.write_tuples(${tenant}, ${tuples}::text[]) as tuples,
        pemba.write_tuples(${tenant}, '{}') as none,
        pemba.write_attributes(${tenant}, ${attributes}::text::jsonb) as attributes,
        pemba.write_attributes(${tenant}, ${attributes}::text::jsonb) as same,
        pemba.delete_tuples(${tenant}, ${["doc:3#owner@user:x", "doc:4#owner@user:x"]}::text[])
          as deleted,
        pemba.delete_attributes(${tenant}, ${["doc:2$tags", "doc:3$tags"]}::text[]) as unset
    `;
    assert.deepEqual(
      { ...row },
      {
        made: true,
        again: false,
        userset: true,
        tuples: 2,
        none: 0,
        attributes: 2,
        same: 0,
        deleted: 1,
        unset: 1,
      },
    );
    const [seen] = await inside`
      select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'ada') as may
    `;
    assert.equal(seen?.["may"], true);
  });
  assert.deepEqual(await stored(tenant), [
    "doc 1 owner user ada",
    "doc 1 public booleantrue",
    "doc 9 viewer group g member",
    "doc a:b@c viewer group x member",
  ]);
  const log = await changesOf(scene.owner, tenant);
  assert.deepEqual(replay(log), await storedState(scene.owner, tenant));
  assert.equal(new Set(log.map(({ xid }) => xid)).size, 1);
});

test("an entity goes with what it is the subject of, and with its attributes", async () => {
  const tenant = await tenantWithSchema(scene.store);
  await write(scene.store, tenant, {
    tuples: [
      "group:g#member@user:a",
      "group:h#member@group:g#member",
      "doc:1#viewer@group:g#member",
      "doc:g#owner@user:a",
    ],
  });
  const [row] = await scene.app`select pemba.delete_entity(${tenant}, 'group', 'g') as count`;
  assert.equal(row?.["count"], 3);
  assert.deepEqual(await stored(tenant), ["doc g owner user a"]);
  const [rest] = await scene.app`select pemba.delete_entity(${tenant}, 'doc', 'g') as count`;
  assert.equal(rest?.["count"], 1);
});

test("what is rolled back was never there, and a later call goes on where it left", async () => {
  const tenant = await tenantWithSchema(scene.store);
  await scene.app.begin(async (inside) => {
    await inside`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'a')`;
    await inside`savepoint part`;
    await inside`select pemba.write_tuples(${tenant}, array['doc:2#owner@user:a', 'doc:3#owner@user:a'])`;
    await inside`rollback to part`;
    await inside`select pemba.delete_entity(${tenant}, 'doc', '1')`;
    await inside`select pemba.write_tuple(${tenant}, 'doc', '4', 'owner', 'user', 'a')`;
  });
  await scene.app
    .begin(async (inside) => {
      await inside`select pemba.write_tuple(${tenant}, 'doc', '5', 'owner', 'user', 'a')`;
      throw new Error("undone");
    })
    .catch(() => undefined);
  assert.deepEqual(await stored(tenant), ["doc 4 owner user a"]);
  const log = await changesOf(scene.owner, tenant);
  assert.deepEqual(replay(log), await storedState(scene.owner, tenant));
  assert.equal(log.length, 3);
});

test("an open transaction is in the way of those alone who change the same key", async () => {
  const { store, app, owner } = scene;
  const tenant = await tenantWithSchema(store);
  const names = (from: number, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `doc:${from + index}#owner@user:a`);
  await write(store, tenant, { tuples: names(0, 200) });
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const { promise: done, resolve: wrote } = Promise.withResolvers<void>();
  const open = app.begin(async (inside) => {
    await inside`select pemba.write_tuples(${tenant}, ${names(1_000, 500)}::text[])`;
    await inside`select pemba.delete_tuples(${tenant}, ${names(0, 200)}::text[])`;
    wrote();
    await over;
  });
  await done;
  for (let number = 0; number < 200; number++) {
    const [id, other] = [String(2_000 + number), String(3_000 + number)];
    await write(store, tenant, { tuples: [`doc:${id}#owner@user:a`] });
    await app`select pemba.write_tuple(${tenant}, 'doc', ${other}, 'owner', 'user', 'a')`;
    if (number % 10 === 0) {
      await remove(store, tenant, { tuples: { ids: [id] } });
      await app`select pemba.delete_entity(${tenant}, 'doc', ${other})`;
    }
  }
  const waiting = write(store, tenant, { tuples: ["doc:1000#owner@user:a"] });
  await untilWaiting(owner, 1);
  end();
  await Promise.all([open, waiting]);
  assert.deepEqual(replay(await changesOf(owner, tenant)), await storedState(owner, tenant));
});

test("two transactions that change a key in the wrong order are told apart by 40001", async () => {
  const tenant = await tenantWithSchema(scene.store);
  const make = async (inside: postgres.ISql): Promise<void> => {
    await inside`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'a')`;
  };
  await make(scene.app);
  await assert.rejects(
    scene.app
      .begin(async (early) => {
        await early`select pg_current_xact_id()`;
        await scene.app`select pemba.delete_tuples(${tenant}, array['doc:1#owner@user:a'])`;
        await make(early);
      })
      .then(() => undefined),
    { code: "40001", hint: "run the transaction again" },
  );
  await make(scene.app);
  assert.deepEqual(await stored(tenant), ["doc 1 owner user a"]);
});

test("a call outside of what it needs is refused, and says what that is", async () => {
  const { app, store, owner } = scene;
  const tenant = await tenantWithSchema(store);
  const bare = await newTenant(store);
  const calls: readonly (readonly [text: string, code: string, message: RegExp])[] = [
    [`select pemba.write_tuple('none', 'doc', '1', 'owner', 'user', 'a')`, "PB004", /`none`/],
    [`select pemba.token('none')`, "PB004", /`none`/],
    [`select pemba.write_tuple('${bare}', 'doc', '1', 'owner', 'user', 'a')`, "PB001", /schema/],
    [`select pemba.write_tuple(null, 'doc', '1', 'owner', 'user', 'a')`, "22004", /`tenant`/],
    [`select pemba.write_tuples('${tenant}', null)`, "22004", /`tuples`/],
    [`select pemba.delete_tuples('${tenant}', null)`, "22004", /`tuples`/],
    [`select pemba.write_attributes('${tenant}', null)`, "22004", /`attributes`/],
    [`select pemba.delete_attributes('${tenant}', null)`, "22004", /`attributes`/],
    [`select pemba.token(null)`, "22004", /`tenant`/],
    [`select pemba.write_attributes('${tenant}', '{}')`, "22023", /JSON list/],
    [
      `select pemba.write_tuples('${tenant}', array_fill('x'::text, array[10001]))`,
      "54000",
      /10000/,
    ],
    [
      `select pemba.delete_tuples('${tenant}', array_fill('x'::text, array[10001]))`,
      "54000",
      /10000/,
    ],
    [
      `select pemba.delete_attributes('${tenant}', array_fill('x'::text, array[10001]))`,
      "54000",
      /10000/,
    ],
    [
      `select pemba.write_attributes('${tenant}', (select jsonb_agg(1) from generate_series(1, 10001)))`,
      "54000",
      /10000/,
    ],
  ];
  for (const [text, code, message] of calls) {
    await assert.rejects(app.unsafe(text), { code, message }, text);
  }
  for (const level of ["repeatable read", "serializable"]) {
    await assert.rejects(
      app
        .begin(`isolation level ${level}`, async (inside) => {
          await inside`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'a')`;
        })
        .then(() => undefined),
      { code: "25001", message: new RegExp(level) },
    );
  }
  await owner
    .begin(async (inside) => {
      await inside`update timelines set timeline = timeline + 1`;
      await inside`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'a')`;
    })
    .then(
      () => assert.fail("it was written"),
      (error: unknown) =>
        assert.ok(error instanceof Error && "code" in error && error.code === "55000"),
    );
  assert.deepEqual(await stored(tenant), []);
});
