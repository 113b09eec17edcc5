import fc from "fast-check";

import type { CheckItem } from "../../src/store/store.ts";
import { factsOf } from "./facts-text.ts";
import { joinedFacts } from "./forms-case.ts";
import type { Facts } from "./ground.ts";
import type { LookupCase } from "./lookup-case.ts";

/*
 * Cases in which guards stand on the way to what is looked for: at folders, in trees and circles, that lead to the
 * documents. A guard asks for tuples, usersets, attributes, rules, or what other entities have. There are more documents
 * than folders, since guards of folders are judged only if they are fewer.
 */

/** What a folder may be seen by. */
const ways = {
  seen: "viewer or parent.seen",
  kept: "(viewer or parent.kept) not banned",
  both: "(viewer or parent.both) and trusted",
  free: "(viewer or parent.free) not locked",
  low: "(viewer or parent.low) and small(level)",
  away: "(viewer or parent.seen) not office.open",
  held: "(viewer or parent.held) and office.open",
  near: "(viewer or office.open) and parent.seen",
  mixed: "(viewer or (parent.mixed not banned)) not locked",
  double: "((viewer or parent.double) not banned) and (trusted or office.open)",
  within: "parent.kept not locked",
  calm: "(viewer or parent.calm) not small(level)",
  quiet: "(viewer or parent.quiet) and (trusted or small(level))",
  far: "(viewer or parent.far) not parent.banned",
  other: "((viewer or parent.other) not banned) or parent.free",
  shown: "(listed or parent.shown) not banned",
  ruled: "(small(level) or parent.ruled) and trusted",
  listing:
    "((viewer not banned) or (listed not banned) or (small(level) and trusted) or parent.listing) not locked",
} as const;

/** So many relations that lead to folders that one query reads all of them. */
const places = ["a", "b", "c", "d", "e", "f"].flatMap((first) =>
  ["a", "b", "c", "d", "e", "f"].map((second) => `near_${first}${second}`),
);

/** Of another schema than the one in force: values of its attributes leave what asks for them unknown. */
const earlierSchema = `entity user {}
entity office {
  attribute active string
}
entity folder {
  attribute locked string
  attribute listed string
  attribute level string
}`;

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
  relation parent @folder @folder#viewer
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
${places.map((name) => `  relation ${name} @folder`).join("\n")}
  relation reader @user @folder#viewer
  relation banned @user @group#member
${Object.keys(ways)
  .map(
    (name) => `  permission ${name} = reader or folder.${name}
  permission not_${name} = (reader or folder.${name}) not banned
  permission some_${name} = reader or (folder.${name} not banned)`,
  )
  .join("\n")}
  permission wide_kept = ${places.map((name) => `${name}.kept`).join(" or ")}
}
rule small(level integer) {
  level < 3 || context.data.any == true
}`;

const idOf = (type: string, count: number): fc.Arbitrary<string> =>
  fc.nat({ max: count - 1 }).map((id) => `${type}:${id}`);

const user = idOf("user", 3);
const folder = idOf("folder", 5);
const doc = idOf("doc", 14);
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
  { weight: 10, arbitrary: lines(doc, "folder", folder) },
  { weight: 5, arbitrary: lines(folder, "parent", folder) },
  lines(folder, "parent", viewers),
  { weight: 2, arbitrary: fc.constantFrom(...places).chain((name) => lines(doc, name, folder)) },
  { weight: 4, arbitrary: lines(folder, "viewer", fc.oneof(user, user, members, viewers)) },
  { weight: 2, arbitrary: lines(folder, "banned", fc.oneof(user, members)) },
  { weight: 4, arbitrary: lines(folder, "trusted", fc.oneof(user, members)) },
  { weight: 2, arbitrary: lines(folder, "office", office) },
  { weight: 3, arbitrary: lines(office, "staff", fc.oneof(user, members)) },
  { weight: 2, arbitrary: lines(group, "member", fc.oneof(user, members)) },
  lines(doc, "folder", viewers),
  lines(doc, "reader", fc.oneof(user, viewers)),
  { weight: 3, arbitrary: lines(doc, "banned", fc.oneof(user, members)) },
);

const attribute = fc.oneof(
  fc.tuple(folder, fc.boolean()).map(([at, value]) => `${at}$locked|boolean:${value}`),
  fc.tuple(folder, fc.boolean()).map(([at, value]) => `${at}$listed|boolean:${value}`),
  fc.tuple(folder, fc.nat({ max: 5 })).map(([at, value]) => `${at}$level|integer:${value}`),
  fc.tuple(office, fc.boolean()).map(([at, value]) => `${at}$active|boolean:${value}`),
);

const earlierAttribute = fc.oneof(
  fc
    .tuple(folder, fc.constantFrom("locked", "listed", "level"))
    .map(([at, name]) => `${at}$${name}|string:text`),
  office.map((at) => `${at}$active|string:text`),
);

const earlierFacts: fc.Arbitrary<Facts> = fc
  .uniqueArray(earlierAttribute, { maxLength: 3 })
  .map(factsOf);

/** Folders in a chain, guarded by a chain of groups, so that it depends on the depth what is certain. */
const chain = [
  ...[0, 1, 2, 3].map((nth) => `folder:${nth}#parent@folder:${nth + 1}`),
  ...[0, 1, 2, 3, 4].map((nth) => `folder:${nth}#office@office:0`),
  ...Array.from({ length: 10 }, (_, nth) => `doc:${nth}#folder@folder:${nth % 5}`),
  "folder:4#viewer@user:0",
  "office:0#staff@group:0#member",
  "group:0#member@group:1#member",
  "group:1#member@group:2#member",
  "group:2#member@user:0",
  "office:0$active|boolean:true",
];

const chainFacts = fc
  .subarray(chain, { minLength: chain.length - 3 })
  .map((lines) => factsOf(lines));

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

const permissions: Readonly<Record<string, readonly string[]>> = {
  folder: Object.keys(ways),
  doc: ["wide_kept", ...Object.keys(ways).flatMap((name) => [name, `not_${name}`, `some_${name}`])],
};

const item: fc.Arbitrary<CheckItem> = fc
  .record({ entity: fc.oneof(doc, doc, folder), subject: fc.oneof(user, user, user, group) })
  .chain(({ entity, subject }) => {
    const [type = "", id = ""] = entity.split(":");
    const [subjectType = "", subjectId = ""] = subject.split(":");
    return fc.constantFrom(...(permissions[type] ?? [])).map((permission) => ({
      entity: { type, id },
      permission,
      subject: {
        type: subjectType,
        id: subjectId,
        relation: subjectType === "group" ? "member" : "",
      },
      arguments: [],
    }));
  });

const someOf = (ids: readonly string[]): fc.Arbitrary<readonly string[]> =>
  fc.subarray([...ids], { minLength: 1 });

const scopes = fc.tuple(
  fc.constant({}),
  fc.constant({}),
  fc.record({ folder: someOf(["0", "1", "2", "3", "4"]) }),
  fc.record({ doc: someOf(["0", "1", "2", "3", "4", "5", "6", "7"]) }),
);

interface WaysParts {
  readonly stored: Facts;
  readonly data: LookupCase["rounds"][number]["context"]["data"];
}

const parts = {
  stored: fc.oneof(
    { weight: 2, arbitrary: facts(50) },
    fc.tuple(chainFacts, facts(6)).map(([chained, others]) => joinedFacts(others, chained)),
  ),
  data: fc.constantFrom({}, { any: true }, { any: false }),
};

/** The schema with data, all of which are under it. */
export const guardedWayFacts: fc.Arbitrary<WaysParts & { readonly schema: string }> = fc
  .record(parts)
  .map((one) => ({ ...one, schema }));

const wayCaseOf = (about: {
  readonly stored: fc.Arbitrary<Facts>;
  readonly depth: fc.Arbitrary<number>;
  readonly item: fc.Arbitrary<CheckItem>;
}): fc.Arbitrary<LookupCase> =>
  fc
    .record({
      stored: about.stored,
      data: parts.data,
      earlier: earlierFacts,
      context: fc.oneof(fc.constant({ tuples: [], attributes: [] }), facts(6)),
      meanwhile: facts(2),
      depths: fc.tuple(fc.constant(100), about.depth),
      after: fc.constantFrom(null, null, 1),
      items: fc.array(about.item, { minLength: 1, maxLength: 4 }),
      scopes,
      pageSizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
    })
    .map(({ earlier, stored, context, meanwhile, data, depths, after, items, ...others }) => ({
      schemas: [earlierSchema, schema],
      writes: [
        { schema: 0, ...earlier },
        { schema: 1, ...stored },
        { schema: 1, ...meanwhile },
      ],
      rounds: depths.map((depth) => ({
        schema: null,
        after,
        depth,
        context: { ...context, data },
        items,
      })),
      meanwhile: [{ schema: 1, ...meanwhile }],
      ...others,
    }));

/** Questions about the chain, whose guards need other lengths of a path than it does. */
const chainItem: fc.Arbitrary<CheckItem> = fc
  .constantFrom("held", "not_held", "some_held", "double", "away", "near")
  .map((permission) => ({
    entity: { type: "doc", id: "0" },
    permission,
    subject: { type: "user", id: "0", relation: "" },
    arguments: [],
  }));

export const guardedWayCase: fc.Arbitrary<LookupCase> = fc.oneof(
  {
    weight: 3,
    arbitrary: wayCaseOf({ ...parts, item, depth: fc.integer({ min: 1, max: 12 }) }),
  },
  wayCaseOf({ stored: chainFacts, item: chainItem, depth: fc.integer({ min: 2, max: 9 }) }),
);
