import assert from "node:assert/strict";
import { test } from "node:test";

import { runThrough } from "../../src/base/steps.ts";
import {
  eachFact,
  factTextOf,
  isLongerThan,
} from "../../src/store/postgres/questions/fact-list.ts";

type Fact = readonly unknown[];

/** As Postgres writes an array of arrays with line feeds. */
function listOf(facts: readonly Fact[]): string {
  return `[${facts.map((fact) => JSON.stringify(fact)).join(",\n ")}]`;
}

function read(list: string): readonly Fact[] {
  const facts: Fact[] = [];
  const count = runThrough(eachFact(list, (fact) => facts.push(fact)));
  assert.equal(count, facts.length);
  return facts;
}

test("lists of any length are read whole", () => {
  for (const count of [0, 1, 2, 600, 5_000]) {
    const facts = Array.from({ length: count }, (_, index) => ["doc", `${index}`, "x".repeat(99)]);
    assert.deepEqual(read(listOf(facts)), facts);
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
    const text = ["7", listOf([]), listOf([]), listOf(facts)].join("\n\n");
    const { nodes, attributes } = factTextOf(text);
    assert.equal(nodes, 7);
    assert.deepEqual(read(attributes), facts);
  }
});

test("a list of megabytes is read in many steps", () => {
  const facts = Array.from({ length: 20_000 }, (_, index) => ["doc", `${index}`, "x".repeat(100)]);
  const list = listOf(facts);
  const steps = eachFact(list, () => {});
  let count = 1;
  while (steps.next().done !== true) count += 1;
  assert.ok(count > list.length / 50_000, `${count} steps`);
  // One that is short is read at once: most are.
  assert.equal(eachFact(listOf(facts.slice(0, 100)), () => {}).next().done, true);
});

test("a list is longer than a number if it has more facts", () => {
  for (const count of [0, 1, 2, 10]) {
    const list = listOf(Array.from({ length: count }, () => ["doc"]));
    assert.ok(!isLongerThan(list, count));
    assert.equal(isLongerThan(list, count - 1), true);
  }
});
