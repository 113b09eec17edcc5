import fc from "fast-check";

import type { Tuple } from "../../src/base/tuple.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { tupleOf } from "./facts-text.ts";
import type { LookupCase } from "./lookup-case.ts";

/*
 * Cases in which a guard accepts what stands in usersets: about as many of them as a lookup of subjects
 * follows from the entity for its candidates, or clearly fewer or more, nested in chains and circles.
 */

const schemaWith = (banned: string): string => `entity user {}
entity team {
  relation member @user @group#member
}
entity group {
  relation member @user @group#member @team#member
  relation boss @user @group#boss
}
entity folder {
  relation barred @user @group#member
  relation shut @user @group#member
  permission see = barred not shut
}
entity doc {
  relation folder @folder
  relation reader @user @group#member
  relation banned ${banned}
  relation muted @user @team#member
  relation trusted @user @group#member
  permission read = reader not banned
  permission hear = (reader not banned) not muted
  permission rely = reader and trusted
  permission calm = reader not (banned or muted)
  permission mixed = (reader and trusted) not (banned or muted)
  permission turned = reader not (banned not trusted)
  permission open = (reader or folder.barred) not banned
  permission near = (reader or folder.see) not banned
  permission far = (reader not banned) not folder.see
}`;

/** A team may be banned under the first one only. */
const schemas = [
  schemaWith("@user @group#member @group#boss @team#member"),
  schemaWith("@user @group#member @group#boss"),
];

const permissions = ["read", "hear", "rely", "calm", "mixed", "turned", "open", "near", "far"];

const users = 6;
const groups = 8;
const docs = 2;

const user = fc.nat({ max: users - 1 }).map((id) => `user:u${id}`);
const group = fc.nat({ max: groups - 1 }).map((id) => `group:g${id}`);
const team = fc.nat({ max: 2 }).map((id) => `team:t${id}`);
const doc = fc.nat({ max: docs - 1 }).map((id) => `doc:d${id}`);
const folder = fc.constantFrom("folder:f0", "folder:f1");
const members = group.map((one) => `${one}#member`);
const bosses = group.map((one) => `${one}#boss`);
const teams = team.map((one) => `${one}#member`);

function lines(
  at: fc.Arbitrary<string>,
  relation: string,
  subject: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc.tuple(at, subject).map(([entity, by]) => `${entity}#${relation}@${by}`);
}

const fact = fc.oneof(
  { weight: 4, arbitrary: lines(doc, "reader", user) },
  lines(doc, "reader", members),
  lines(doc, "banned", user),
  { weight: 2, arbitrary: lines(doc, "banned", fc.oneof(members, bosses)) },
  lines(doc, "muted", fc.oneof(user, teams)),
  lines(doc, "trusted", fc.oneof(user, members)),
  lines(doc, "folder", folder),
  lines(folder, "barred", fc.oneof(user, members)),
  lines(folder, "shut", fc.oneof(user, members)),
  { weight: 4, arbitrary: lines(group, "member", fc.oneof(user, members, members, teams)) },
  lines(group, "boss", fc.oneof(user, bosses)),
  lines(team, "member", fc.oneof(user, members)),
);

/**
 * Usersets or users beside them. The numbers are near what is read for up to six candidates: 20 for each,
 * and 100 (`src/sql/lookup/followed-guards.ts`).
 */
const size = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc
    .tuple(fc.nat({ max: users }), fc.integer({ min: -6, max: 3 }))
    .map(([candidates, more]) => 100 + 20 * candidates + more),
);

/** Groups without members, but for the last one, which is found last. */
function* manyGroups(under: string, name: string, count: number, member: string): Iterable<string> {
  for (let nth = 0; nth < count; nth++) yield `${under}@group:${name}${100 + nth}#member`;
  yield `group:${name}${99 + count}#member@${member}`;
}

const crowdInGroup = fc.oneof(
  fc
    .tuple(group, size, user)
    .map(([at, count, member]) => [at, ...manyGroups(`${at}#member`, "i", count, member)]),
  // Users, some of whom sort before all others.
  fc
    .tuple(group, fc.constantFrom("a", "u2", "z"), size)
    .map(([at, prefix, count]) => [
      at,
      ...numbered(count, (nth) => `${at}#member@user:${prefix}${nth}`),
    ]),
  // Groups each in the one before it, which end in one of the others, so that there may be a circle.
  fc
    .tuple(group, fc.integer({ min: 1, max: 8 }), group)
    .map(([at, count, end]) => [
      at,
      `${at}#member@group:c0#member`,
      ...numbered(count, (nth) => `group:c${nth}#member@group:c${nth + 1}#member`),
      `group:c${count}#member@${end}#member`,
    ]),
);

const guard = fc.constantFrom("banned", "banned", "trusted");

const crowd = fc.oneof(
  fc
    .tuple(doc, guard, size, user)
    .map(([at, relation, count, member]) => [
      `${at}#reader@${member}`,
      ...manyGroups(`${at}#${relation}`, "h", count, member),
    ]),
  {
    weight: 2,
    arbitrary: fc
      .tuple(doc, guard, user, crowdInGroup)
      .map(([at, relation, member, [into = "", ...within]]) => [
        `${at}#reader@${member}`,
        `${at}#${relation}@${into}#member`,
        ...within,
      ]),
  },
);

function numbered(count: number, line: (nth: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, nth) => line(nth));
}

const item: fc.Arbitrary<CheckItem> = fc
  .record({
    permission: fc.constantFrom(...permissions),
    doc: fc.nat({ max: docs - 1 }),
    user: fc.nat({ max: users - 1 }),
    userset: fc.option(fc.nat({ max: groups - 1 }), { freq: 5 }),
  })
  .map(({ permission, doc: id, user: by, userset }) => ({
    entity: { type: "doc", id: `d${id}` },
    permission,
    subject:
      userset === null
        ? { type: "user", id: `u${by}`, relation: "" }
        : { type: "group", id: `g${userset}`, relation: "member" },
    arguments: [],
  }));

/** Questions of each round: the oracle reads all tuples for each id. */
const itemsMax = 3;

export const guardedLookupCase: fc.Arbitrary<LookupCase> = fc
  .record({
    earlier: fc.array(lines(doc, "banned", teams), { maxLength: 2 }),
    facts: fc.array(fact, { minLength: 4, maxLength: 30, size: "max" }),
    crowds: fc.array(crowd, { minLength: 1, maxLength: 4, size: "max" }),
    context: fc.oneof(fc.constant([]), fc.array(fact, { maxLength: 4 })),
    depths: fc.tuple(fc.constant(100), fc.integer({ min: 1, max: 6 })),
    items: fc.array(item, { minLength: 1, maxLength: itemsMax }),
    pageSizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
    meanwhile: fc.array(fact, { maxLength: 2 }),
  })
  .map(({ earlier, facts, crowds, context, depths, items, pageSizes, meanwhile }) => ({
    schemas,
    writes: [
      { schema: 0, tuples: tuplesOf(earlier), attributes: [] },
      {
        schema: 1,
        tuples: tuplesOf([...facts, ...crowds.flat()]),
        attributes: [],
      },
    ],
    rounds: depths.map((depth) => ({
      schema: null,
      after: null,
      depth,
      context: { tuples: tuplesOf(context), attributes: [], data: {} },
      items,
    })),
    scopes: [{}],
    pageSizes,
    meanwhile: meanwhile.map((line) => ({ schema: 1, tuples: tuplesOf([line]), attributes: [] })),
  }));

/** None twice, and none whose entity and subject are equal. */
function tuplesOf(texts: readonly string[]): readonly Tuple[] {
  const isPossible = (text: string): boolean => {
    const [place, subject] = text.split("@");
    return place !== subject;
  };
  return [...new Set(texts)].filter(isPossible).map(tupleOf);
}
