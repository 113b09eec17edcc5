import fc from "fast-check";

import type { CheckItem } from "../../src/store/store.ts";
import { factsOf } from "./facts-text.ts";
import type { Facts } from "./ground.ts";
import type { LookupCase } from "./lookup-case.ts";

/*
 * Cases in which guards stand on the way to what is looked for: at folders, in trees and circles, that lead to the
 * documents. A guard asks for tuples, usersets, attributes, rules, or what other entities have.
 */

/** What a folder may be seen by. */
const ways = {
  seen: "viewer or parent.seen",
  kept: "(viewer or parent.kept) not banned",
  both: "(viewer or parent.both) and trusted",
  free: "(viewer or parent.free) not locked",
  low: "(viewer or parent.low) and small(level)",
  away: "(viewer or parent.seen) not office.open",
  near: "(viewer or office.open) and parent.seen",
  mixed: "(viewer or (parent.mixed not banned)) not locked",
  double: "((viewer or parent.double) not banned) and (trusted or office.open)",
  within: "parent.kept not locked",
  listing:
    "((viewer not banned) or (listed not banned) or (small(level) and trusted) or parent.listing) not locked",
} as const;

const schema = `entity user {}
entity group {
  relation member @user @group#member
}
entity office {
  relation staff @user @group#member
  attribute active boolean
  permission open = staff and active
}
entity folder {
  relation office @office
  relation parent @folder
  relation viewer @user @group#member @folder#viewer
  relation banned @user @group#member
  relation trusted @user @group#member
  attribute locked boolean
  attribute listed boolean
  attribute level integer
${Object.entries(ways)
  .map(([name, text]) => `  permission ${name} = ${text}`)
  .join("\n")}
}
entity doc {
  relation folder @folder @folder#viewer
  relation reader @user @folder#viewer
  relation banned @user @group#member
${Object.keys(ways)
  .map(
    (name) => `  permission ${name} = reader or folder.${name}
  permission not_${name} = (reader or folder.${name}) not banned`,
  )
  .join("\n")}
}
rule small(level integer) {
  level < 3 || context.data.any == true
}`;

const idOf = (type: string, count: number): fc.Arbitrary<string> =>
  fc.nat({ max: count - 1 }).map((id) => `${type}:${id}`);

const user = idOf("user", 3);
const folder = idOf("folder", 5);
const doc = idOf("doc", 5);
const group = idOf("group", 3);
const office = idOf("office", 2);
const members = group.map((one) => `${one}#member`);
const viewers = folder.map((one) => `${one}#viewer`);

function lines(
  at: fc.Arbitrary<string>,
  relation: string,
  subject: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc
    .tuple(at, subject)
    .map(([entity, by]) => `${entity}#${relation}@${by}`)
    .filter((text) => {
      const [place, by] = text.split("@");
      return place !== by;
    });
}

const tuple = fc.oneof(
  { weight: 6, arbitrary: lines(doc, "folder", folder) },
  { weight: 5, arbitrary: lines(folder, "parent", folder) },
  { weight: 4, arbitrary: lines(folder, "viewer", fc.oneof(user, user, members, viewers)) },
  { weight: 2, arbitrary: lines(folder, "banned", fc.oneof(user, members)) },
  { weight: 4, arbitrary: lines(folder, "trusted", fc.oneof(user, members)) },
  { weight: 2, arbitrary: lines(folder, "office", office) },
  { weight: 3, arbitrary: lines(office, "staff", fc.oneof(user, members)) },
  { weight: 2, arbitrary: lines(group, "member", fc.oneof(user, members)) },
  lines(doc, "folder", viewers),
  lines(doc, "reader", fc.oneof(user, viewers)),
  lines(doc, "banned", fc.oneof(user, members)),
);

const attribute = fc.oneof(
  fc.tuple(folder, fc.boolean()).map(([at, value]) => `${at}$locked|boolean:${value}`),
  fc.tuple(folder, fc.boolean()).map(([at, value]) => `${at}$listed|boolean:${value}`),
  fc.tuple(folder, fc.nat({ max: 5 })).map(([at, value]) => `${at}$level|integer:${value}`),
  fc.tuple(office, fc.boolean()).map(([at, value]) => `${at}$active|boolean:${value}`),
);

const facts = (most: number): fc.Arbitrary<Facts> =>
  fc
    .record({
      tuples: fc.array(tuple, { maxLength: most, size: "max" }),
      attributes: fc.uniqueArray(attribute, {
        maxLength: 8,
        selector: (text) => text.split("|")[0],
      }),
    })
    .map(({ tuples, attributes }) => factsOf([...new Set([...tuples, ...attributes])]));

const item: fc.Arbitrary<CheckItem> = fc
  .record({
    entity: fc.oneof(doc, doc, folder),
    way: fc.constantFrom(...Object.keys(ways)),
    isNot: fc.boolean(),
    subject: fc.oneof(user, user, user, group),
  })
  .map(({ entity, way, isNot, subject }) => {
    const [type = "", id = ""] = entity.split(":");
    const [subjectType = "", subjectId = ""] = subject.split(":");
    return {
      entity: { type, id },
      permission: isNot && type === "doc" ? `not_${way}` : way,
      subject: {
        type: subjectType,
        id: subjectId,
        relation: subjectType === "group" ? "member" : "",
      },
      arguments: [],
    };
  });

export const guardedWayCase: fc.Arbitrary<LookupCase> = fc
  .record({
    stored: facts(40),
    context: fc.oneof(fc.constant({ tuples: [], attributes: [] }), facts(6)),
    meanwhile: facts(2),
    data: fc.constantFrom({}, { any: true }, { any: false }),
    depths: fc.tuple(fc.constant(100), fc.integer({ min: 1, max: 12 })),
    items: fc.array(item, { minLength: 1, maxLength: 4 }),
    pageSizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
  })
  .map(({ stored, context, meanwhile, data, depths, items, pageSizes }) => ({
    schemas: [schema],
    writes: [{ schema: 0, ...stored }],
    rounds: depths.map((depth) => ({
      schema: null,
      after: null,
      depth,
      context: { ...context, data },
      items,
    })),
    scopes: [{}],
    pageSizes,
    meanwhile: [{ schema: 0, ...meanwhile }],
  }));
