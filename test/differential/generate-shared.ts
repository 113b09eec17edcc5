import fc from "fast-check";

import type { CheckItem } from "../../src/store/store.ts";
import type { Case, Round } from "./case.ts";
import { tupleOf } from "./facts-text.ts";

/*
 * Cases in which tuples alone lead from the questions to the subjects, over several hops: what many items of a bulk
 * check have in common is searched once. The depth is often too little for some of them.
 */

const see = ["viewer or parent.see", "parent.see or viewer or owner", "viewer"] as const;

/** What stands at the question itself may be anything. */
const view = [
  "viewer or folder.see",
  "folder.see",
  "viewer or folder.viewer or folder.see",
  "(viewer or folder.see) not banned",
  "(owner or folder.see) and viewer",
] as const;

function schemaText(seen: string, viewed: string): string {
  return `entity user {}
entity bot {}
entity group {
  relation member @user @bot @group#member
}
entity folder {
  relation parent @folder
  relation owner @user
  relation viewer @user @bot @group#member
  permission see = ${seen}
}
entity doc {
  relation folder @folder
  relation owner @user
  relation viewer @user @group#member
  relation banned @user @group#member
  permission view = ${viewed}
}`;
}

const ids = 6;
const id = fc.nat({ max: ids - 1 });

/** In a row they are more than what is read for all items of a small bulk. */
const foldersInRow = 45;

/** Tuples between ids of two kinds, as text. */
function tuples(from: string, to: string, most: number): fc.Arbitrary<readonly string[]> {
  return fc
    .array(fc.tuple(id, id), { maxLength: most, size: "max" })
    .map((pairs) => pairs.map(([one, other]) => linkText(from, to, one, other)));
}

/** From each id to the next one, a row of some length. */
function row(
  from: string,
  to: string,
  lengths: readonly number[],
): fc.Arbitrary<readonly string[]> {
  return fc
    .constantFrom(...lengths)
    .map((length) => Array.from({ length }, (_, at) => linkText(from, to, at, at + 1)));
}

function linkText(from: string, to: string, one: number, other: number): string {
  return `${from.replace("*", String(one))}@${to.replace("*", String(other))}`;
}

/** The last folder of a row of any length, from which all others are seen. */
const lastViewer = fc
  .tuple(fc.boolean(), id)
  .map(([is, by]) => (is ? [`folder:f${foldersInRow}#viewer@user:u${by}`] : []));

const facts = fc
  .tuple(
    row("group:g*#member", "group:g*#member", [0, ids - 1]),
    row("folder:f*#parent", "folder:f*", [0, ids - 1, foldersInRow]),
    lastViewer,
    tuples("group:g*#member", "group:g*#member", 4),
    tuples("group:g*#member", "user:u*", 5),
    tuples("group:g*#member", "bot:u*", 2),
    tuples("folder:f*#parent", "folder:f*", 4),
    tuples("folder:f*#viewer", "group:g*#member", 3),
    tuples("folder:f*#viewer", "user:u*", 3),
    tuples("folder:f*#owner", "user:u*", 2),
    tuples("doc:d*#folder", "folder:f*", 8),
    tuples("doc:d*#viewer", "group:g*#member", 3),
    tuples("doc:d*#viewer", "user:u*", 3),
    tuples("doc:d*#owner", "user:u*", 2),
    tuples("doc:d*#banned", "user:u*", 2),
    tuples("doc:d*#banned", "group:g*#member", 1),
  )
  .map((lists) => [...new Set(lists.flat())].filter((text) => !isOwnUserset(text)).map(tupleOf));

function isOwnUserset(text: string): boolean {
  const [userset, subject] = text.split("@");
  return userset === subject;
}

const item: fc.Arbitrary<CheckItem> = fc
  .record({
    asked: fc.constantFrom(
      ["doc", "view"],
      ["doc", "view"],
      ["doc", "viewer"],
      ["folder", "see"],
      ["folder", "viewer"],
      ["group", "member"],
    ),
    entity: id,
    subject: fc.constantFrom("user", "user", "user", "bot", "group"),
    by: id,
  })
  .map(({ asked: [type = "", permission = ""], entity, subject, by }) => ({
    entity: { type, id: `${type.slice(0, 1)}${entity}` },
    permission,
    subject:
      subject === "group"
        ? { type: "group", id: `g${by}`, relation: "member" }
        : { type: subject, id: `u${by}`, relation: "" },
    arguments: [],
  }));

const candidates = 40;

const round: fc.Arbitrary<Round> = fc
  .record({
    depth: fc.constantFrom(100, 2, 3, 5),
    items: fc.array(item, { minLength: candidates / 2, maxLength: candidates, size: "max" }),
  })
  .map(({ depth, items }) => ({
    schema: null,
    after: null,
    depth,
    context: { tuples: [], attributes: [], data: {} },
    items,
  }));

/** Cases whose bulks share what they search. */
export const sharedCase: fc.Arbitrary<Case> = fc
  .record({
    seen: fc.constantFrom(...see),
    viewed: fc.constantFrom(...view),
    tuples: facts,
    rounds: fc.tuple(round, round),
  })
  .map(({ seen, viewed, tuples: written, rounds }) => ({
    schemas: [schemaText(seen, viewed)],
    writes: [{ schema: 0, tuples: written, attributes: [] }],
    rounds,
  }));
