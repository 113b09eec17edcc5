import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { groundMax, planMax, treeMax } from "../../src/plan/limit.ts";
import { lower } from "../../src/plan/passes/1-lower.ts";
import { isPossible, leastNames, restrict } from "../../src/plan/passes/2-restrict.ts";
import { unfold } from "../../src/plan/passes/3-unfold.ts";

/*
 * What a plan is counted by decides whether it is a search. An answer is the same either way, so only
 * the counts themselves show a fault in them.
 */

const subject = { subjectType: "user", subjectRelation: "" };

const schema = compileSchemaText(`
entity user {}
entity robot {}
entity folder {
  relation viewer @user
  relation machine @robot
  permission plain = viewer
  permission both = viewer and plain
  permission none = machine and viewer
}
entity box {
  relation machine @robot
  permission both = machine
}
entity doc {
  relation parent @folder @box
  relation viewer @user
  relation machine @robot
  attribute open boolean
  permission one = viewer or open
  permission two = one and viewer
  permission three = two not machine
  permission four = three or two or (parent.both and machine)
  permission up = parent.both
  permission far = up and three
}
`);

const network = runThrough(lower(schema));
const restricted = runThrough(restrict(network, subject));

function node(entityType: string, name: string) {
  return must(network.byName.get(entityType)?.get(name), `there is ${entityType}#${name}`);
}

/** By hand: each permission with an operator, each operand with one of its own, along the longest way. */
const leastOf = [
  ["doc", "viewer", 0],
  ["doc", "one", 1],
  ["doc", "two", 2],
  ["doc", "three", 3],
  ["doc", "four", 4],
  ["folder", "both", 1],
  ["doc", "up", 1],
  ["doc", "far", 4],
  ["folder", "none", 0],
] as const;

for (const [entityType, name, count] of leastOf) {
  test(`${entityType}#${name} leads through ${count} names at least`, () => {
    assert.equal(leastNames(restricted, node(entityType, name)), count);
  });
}

test("a walk is possible when one of its types can hold, and a permission without it is not", () => {
  const seen = ["both", "none"].map((name) => isPossible(restricted, node("folder", name)));
  assert.deepEqual(seen, [true, false]);
  assert.equal(isPossible(restricted, node("box", "both")), false);
  assert.equal(isPossible(restricted, node("doc", "up")), true);
});

test("the size of a search counts each part that has a bound", () => {
  const root = node("doc", "far");
  const unfolded = runThrough(unfold(restricted, root, { purpose: "check" }));
  const size = unfolded.kind === "automaton" ? unfolded.size : undefined;
  // The names are far, three, two and one, and folder#both.
  assert.deepEqual(size, { states: 5, branches: 10, guards: 1, names: 5, visits: 5, leaves: 29 });
});

test("docs/limits.md has the bounds of plans, trees and grounding", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/limits.md"), "utf8");
  const text = (count: number): string => count.toLocaleString("en");
  for (const row of [
    `${text(planMax.states)}; ${text(planMax.branches)}; ${text(planMax.visits)}`,
    `${text(treeMax.nodes)}, ${text(treeMax.subjects)}, ${text(treeMax.levels)}`,
    `${text(groundMax.answer)}; ${text(groundMax.request)} for all checks of a request`,
  ]) {
    assert.ok(page.includes(`| ${row} `), row);
  }
});
