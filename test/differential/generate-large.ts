import fc from "fast-check";

import type { CheckItem } from "../../src/store/store.ts";
import type { Case } from "./case.ts";
import { tupleOf } from "./facts-text.ts";

/*
 * Cases with few kinds of things but many of each: a user in hundreds of groups, groups nested any
 * way, so that the limits of the search from the subject's end are passed.
 */

const schema = `entity user {}
entity group {
  relation member @user @group#member
}
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user @group#member
  permission see = viewer or parent.see
  permission view = (viewer or parent.view) not banned
  permission share = viewer and parent.see
  permission odd = viewer not parent.odd
  permission all = viewer and (parent.all or parent.see)
}`;

const groups = 400;
const folders = 16;
const users = 3;

const group = fc.nat({ max: groups - 1 });
const folder = fc.nat({ max: folders - 1 });
const user = fc.nat({ max: users - 1 });

function many<T>(one: fc.Arbitrary<T>, most: number): fc.Arbitrary<readonly T[]> {
  return fc.array(one, { minLength: most / 2, maxLength: most, size: "max" });
}

const item: fc.Arbitrary<CheckItem> = fc
  .record({
    permission: fc.constantFrom("see", "view", "share", "odd", "all", "viewer", "banned"),
    folder,
    user,
    userset: fc.option(group, { freq: 4 }),
  })
  .map(({ permission, folder: id, user: by, userset }) => ({
    entity: { type: "folder", id: `f${id}` },
    permission,
    subject:
      userset === null
        ? { type: "user", id: `u${by}`, relation: "" }
        : { type: "group", id: `g${userset}`, relation: "member" },
    arguments: [],
  }));

export const largeCase: fc.Arbitrary<Case> = fc
  .record({
    members: many(fc.tuple(group, user), 240),
    nested: many(fc.tuple(group, group), 500),
    parents: many(fc.tuple(folder, folder), 14),
    viewers: many(fc.tuple(folder, group), 30),
    banned: many(fc.tuple(folder, group), 10),
    direct: many(fc.tuple(folder, user), 4),
    depths: fc.tuple(fc.constant(100), fc.integer({ min: 1, max: 6 })),
    items: fc.array(item, { minLength: 1, maxLength: 30, size: "max" }),
  })
  .map(({ members, nested, parents, viewers, banned, direct, depths, items }) => ({
    schemas: [schema],
    writes: [
      {
        schema: 0,
        tuples: [
          ...members.map(([within, by]) => tupleOf(`group:g${within}#member@user:u${by}`)),
          ...nested
            .filter(([outer, inner]) => outer !== inner)
            .map(([outer, inner]) => tupleOf(`group:g${outer}#member@group:g${inner}#member`)),
          ...parents.map(([low, high]) => tupleOf(`folder:f${low}#parent@folder:f${high}`)),
          ...viewers.map(([at, by]) => tupleOf(`folder:f${at}#viewer@group:g${by}#member`)),
          ...banned.map(([at, by]) => tupleOf(`folder:f${at}#banned@group:g${by}#member`)),
          ...direct.map(([at, by]) => tupleOf(`folder:f${at}#viewer@user:u${by}`)),
        ],
        attributes: [],
      },
    ],
    rounds: depths.map((depth) => ({
      schema: null,
      after: null,
      depth,
      context: { tuples: [], attributes: [], data: {} },
      items,
    })),
  }));
