import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { type Story, tell } from "../differential/story.ts";
import { plainFrame } from "./scene.ts";

/*
 * What the guards of a lookup leave out, where they are read for all candidates of a page together and
 * where they are asked of each one.
 */

const schema = `entity user {}
entity group { relation member @user @group#member }
entity department {
  relation head @user
  attribute open boolean
  permission active = open
}
entity report {
  relation reader @user
  relation department @department
  relation barred @user @group#member
  permission read = (reader and department.active) not barred
  permission see = reader not barred
}`;

/** Of ten, a few are in a closed department, and some are barred: directly, by a group, by one in a group. */
const facts = factsOf([
  ...Array.from({ length: 10 }, (_, nth) => `report:r${nth}#reader@user:ann`),
  ...Array.from({ length: 10 }, (_, nth) => `report:r${nth}#reader@user:bob`),
  ...Array.from(
    { length: 10 },
    (_, nth) => `report:r${nth}#department@department:${nth === 4 ? "closed" : "sales"}`,
  ),
  "report:other#department@department:sales",
  ...Array.from({ length: 40 }, (_, nth) => `report:r1${nth}#barred@user:bob`),
  // Behind more than a set holds.
  "report:r9#barred@user:bob",
  "report:r0#barred@user:ann",
  "report:r2#barred@group:near#member",
  "report:r9#barred@group:far#member",
  "group:near#member@user:ann",
  "group:far#member@group:near#member",
  // In more groups than reports are found.
  ...Array.from({ length: 6 }, (_, nth) => `group:g${nth}#member@user:cat`),
  "report:r6#reader@user:cat",
  "report:r7#reader@user:cat",
  "report:r7#barred@group:g3#member",
  // Barred groups that are too many to be followed, and one with too many members to be read.
  ...["x0", "x1"].flatMap((id) => [`report:${id}#reader@user:cid`, `report:${id}#reader@user:dot`]),
  ...Array.from({ length: 150 }, (_, nth) => `report:x0#barred@group:h${nth + 100}#member`),
  "report:x0#barred@group:h99#member",
  "group:h99#member@user:dot",
  "report:x1#barred@group:crowd#member",
  ...Array.from({ length: 200 }, (_, nth) => `group:crowd#member@user:c${nth}`),
  "group:crowd#member@user:cid",
  "department:sales$open|boolean:true",
  "department:closed$open|boolean:false",
]);

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

for (const engine of ["memory", "postgres"] as const) {
  const told = async (): Promise<Story> => {
    const writes = [{ schema: 0, ...facts }];
    return await tell(engines[engine], { schemas: [schema], writes });
  };
  const entities = async (permission: string, user: string, limit: number): Promise<string> => {
    const { store, tenant } = await told();
    const { items } = await store.lookups.entities(tenant, {
      ...plainFrame,
      after: undefined,
      limit,
      entityType: "report",
      permission,
      subject: { type: "user", id: user, relation: "" },
      scope: new Map(),
    });
    return items.join(" ");
  };
  const subjects = async (permission: string, id: string, limit: number): Promise<string> => {
    const { store, tenant } = await told();
    const { items } = await store.lookups.subjects(tenant, {
      ...plainFrame,
      after: undefined,
      limit,
      entity: { type: "report", id },
      permission,
      arguments: [],
      subjectType: "user",
      subjectRelation: "",
    });
    return items.join(" ");
  };

  for (const limit of [20, 1_000]) {
    test(`a page of ${limit} leaves out what guards deny (${engine})`, async () => {
      assert.equal(await entities("see", "ann", limit), "r1 r3 r4 r5 r6 r7 r8");
      assert.equal(await entities("read", "ann", limit), "r1 r3 r5 r6 r7 r8");
      assert.equal(await entities("read", "bob", limit), "r0 r1 r2 r3 r5 r6 r7 r8");
      assert.equal(await entities("see", "cat", limit), "r6");
      assert.equal(await subjects("see", "r0", limit), "bob");
      assert.equal(await subjects("read", "r9", limit), "");
      assert.equal(await subjects("see", "r7", limit), "ann bob");
      assert.equal(await subjects("read", "r4", limit), "");
      assert.equal(await subjects("read", "r5", limit), "ann bob");
      assert.equal(await subjects("see", "x0", limit), "cid");
      assert.equal(await subjects("see", "x1", limit), "dot");
    });
  }
}
