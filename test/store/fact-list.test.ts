import assert from "node:assert/strict";
import { test } from "node:test";

import { runThrough } from "../../src/base/steps.ts";
import { gatheredBytesMax, gatheredEntitiesMax } from "../../src/plan/limit.ts";
import {
  eachFact,
  factTextsOf,
  withAllFacts,
} from "../../src/store/postgres/questions/fact-list.ts";
import { isTooLarge } from "../../src/store/postgres/questions/gathered-facts.ts";

type Fact = readonly unknown[];

/** As Postgres writes an array of arrays with line feeds. */
function listOf(facts: readonly Fact[]): string {
  return `[${facts.map((fact) => JSON.stringify(fact)).join(",\n ")}]`;
}

function read(lists: readonly string[]): readonly Fact[] {
  const facts: Fact[] = [];
  runThrough(eachFact(lists, (fact) => facts.push(fact)));
  return facts;
}

test("lists of any length are read whole", () => {
  for (const count of [0, 1, 2, 600, 5_000]) {
    const facts = Array.from({ length: count }, (_, index) => ["doc", `${index}`, "x".repeat(99)]);
    assert.deepEqual(read([listOf(facts)]), facts);
    assert.deepEqual(read([listOf(facts), listOf([]), listOf(facts)]), [...facts, ...facts]);
  }
});

test("values that look like the end of a line or of a fact are read as they are", () => {
  const hostile = [
    '],\n ["doc"',
    "\n\n",
    ",\n ",
    "]",
    '"]',
    "\\n",
    ["a],\n [b", "\n"],
    1.5,
    [true],
  ];
  for (const filler of ["", "x".repeat(40_000)]) {
    const facts = hostile.map((value) => ["doc", "1", filler, "string", value]);
    const { attributes } = factTextsOf(["n7 0 0 []", `a${listOf(facts)}`]);
    assert.deepEqual(read(attributes), facts);
  }
});

test("pieces of facts are told apart by their first letter, in any order", () => {
  const pieces = ["a[1]", "e[2]", "d[3]", "n12 34 56 [[null]]", "e[4]", "a[5]"];
  assert.deepEqual(factTextsOf(pieces), {
    nodes: 12,
    tuples: 34,
    bytes: 56,
    names: "[[null]]",
    edges: ["[2]", "[4]"],
    direct: ["[3]"],
    attributes: ["[1]", "[5]"],
  });
});

test("what was gathered is too large past each of its bounds", () => {
  const entities = gatheredEntitiesMax;
  const bytes = gatheredBytesMax;
  assert.equal(isTooLarge([`n${entities} 10 ${bytes} []`], 10), false);
  for (const counts of [
    `n${entities + 1} 10 ${bytes} []`,
    `n${entities} 11 ${bytes} []`,
    `n${entities} 10 ${bytes + 1} []`,
  ]) {
    assert.equal(isTooLarge([counts], 10), true, counts);
  }
});

test("the rows of pieces become one row for each item", () => {
  const rows = [
    { item: 0, verdict: 2, facts: null },
    { item: 2, verdict: null, facts: "n1 0 0 []" },
    { item: 1, verdict: null, facts: "n2 0 0 []" },
    { item: 2, verdict: null, facts: "e[]" },
    { item: 3, verdict: 0, facts: null },
  ];
  assert.deepEqual(withAllFacts(rows), [
    { item: 0, verdict: 2, facts: null },
    { item: 2, verdict: null, facts: ["n1 0 0 []", "e[]"] },
    { item: 1, verdict: null, facts: ["n2 0 0 []"] },
    { item: 3, verdict: 0, facts: null },
  ]);
});

test("a list of megabytes is read in many steps, and so are many lists", () => {
  const facts = Array.from({ length: 20_000 }, (_, index) => ["doc", `${index}`, "x".repeat(100)]);
  const list = listOf(facts);
  const few = listOf(facts.slice(0, 100));
  for (const lists of [[list], Array.from({ length: 200 }, () => few)]) {
    const steps = eachFact(lists, () => {});
    let count = 1;
    while (steps.next().done !== true) count += 1;
    assert.ok(count > list.length / 50_000, `${count} steps`);
  }
  // One that is short is read at once: most are.
  assert.equal(eachFact([few], () => {}).next().done, true);
});
