import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { newTenant, write } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity folder {
    relation parent @folder
    relation viewer @user @group#member
    permission view = viewer or parent.view
  }
  entity doc {
    relation parent @folder
    relation banned @user
    relation viewer @user @group#member
    permission view = (viewer or parent.view) not banned
  }
`;

let scene: InterfaceScene;
let tenant: string;

before(async () => {
  scene = await openInterface();
  const id = await newTenant(scene.store);
  await scene.store.schemas.write(id, { text: schema });
  tenant = id;
  await write(scene.store, id, {
    tuples: [
      "group:one#member@user:ada",
      "group:two#member@group:one#member",
      "folder:top#viewer@group:two#member",
      "folder:sub#parent@folder:top",
      "doc:a#parent@folder:sub",
      "doc:b#viewer@user:ada",
      "doc:c#parent@folder:top",
      "doc:c#banned@user:ada",
      "doc:d#viewer@user:bob",
    ],
  });
});

after(async () => {
  await scene.close();
});

test("a role without rights on tables asks whether a subject may do something", async () => {
  const { app } = scene;
  const rows = await app`
    select d.id, pemba.may(${tenant}, 'doc', d.id, 'view', 'user', 'ada') as may
    from unnest(array['a', 'b', 'c', 'd', 'nowhere']) as d(id)
    order by d.id
  `;
  assert.deepEqual(
    rows.filter(({ may }) => may === true).map(({ id }) => String(id)),
    ["a", "b"],
  );
});

test("a relation `...` of the subject counts as none, as over REST", async () => {
  const [row] = await scene.app`
    select pemba.may(${tenant}, 'doc', 'a', 'view', 'user', 'ada', '...') as may,
      array(select pemba.visible(${tenant}, 'doc', 'view', 'user', 'bob', '...')) as visible
  `;
  assert.deepEqual({ ...row }, { may: true, visible: ["d"] });
});

test("it asks which of some entities a subject sees, and which of all", async () => {
  const { app } = scene;
  const some = await app`
    select m.id
    from pemba.may_of(
      ${tenant}, 'doc', array['a', 'c', 'a', null, 'd'], 'view', 'user', 'ada'
    ) as m(id)
  `;
  assert.deepEqual(
    some.map(({ id }) => String(id)),
    ["a"],
  );
  const all = await app`
    select v.id from pemba.visible(${tenant}, 'doc', 'view', 'user', 'ada') as v(id) order by v.id
  `;
  assert.deepEqual(
    all.map(({ id }) => String(id)),
    ["a", "b"],
  );
  const ids = await app`
    select unnest(pemba.visible_ids(${tenant}, 'folder', 'view', 'user', 'ada')) as id order by id
  `;
  assert.deepEqual(
    ids.map(({ id }) => String(id)),
    ["sub", "top"],
  );
});

test("it asks who sees an entity", async () => {
  const { app } = scene;
  const rows = await app`
    select w.id from pemba.who(${tenant}, 'doc', 'a', 'view', 'user') as w(id) order by w.id
  `;
  assert.deepEqual(
    rows.map(({ id }) => String(id)),
    ["ada"],
  );
});

test("a count stops one after the most that is asked for", async () => {
  const { app } = scene;
  const counts = async (most: number): Promise<unknown> => {
    const [row] = await app`
      select pemba.visible_count(${tenant}, 'doc', 'view', 'user', 'ada', ${most}) as n
    `;
    return row?.["n"];
  };
  assert.equal(await counts(10), 2);
  assert.equal(await counts(2), 2);
  assert.equal(await counts(1), 2);
  assert.equal(await counts(0), 1);
});
