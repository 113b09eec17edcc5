import assert from "node:assert/strict";
import { test } from "node:test";

import type { Proof } from "../../src/console/api/permissions.ts";
import { flatProof, rowsInSight } from "../../src/console/views/ask/flat-proof.ts";

function node(name: string, ...children: readonly Proof[]): Proof {
  return {
    entity: { type: "document", id: "1" },
    name,
    can: "RESULT_ALLOWED",
    reason: "UNION",
    expression: name,
    line: 1,
    column: 1,
    children: [...children],
  };
}

const tree = node("a", node("b", node("c")), node("d"));

test("the rows of a proof are its nodes, each before what is below it", () => {
  const rows = flatProof(tree).map((row) => [row.node.name, row.level, row.parent]);
  assert.deepEqual(rows, [
    ["a", 1, undefined],
    ["b", 2, 0],
    ["c", 3, 1],
    ["d", 2, 0],
  ]);
});

test("a row that is closed hides all that is below it", () => {
  const namesWith = (...closed: readonly number[]): string =>
    rowsInSight(flatProof(tree), new Set(closed))
      .map(({ node: { name } }) => name)
      .join("");
  assert.equal(namesWith(), "abcd");
  assert.equal(namesWith(1), "abd");
  assert.equal(namesWith(0), "a");
});

test("a proof of five thousand levels is walked without a deep call", () => {
  let deep = node("end");
  for (let level = 1; level < 5_000; level++) deep = node("step", deep);
  assert.equal(flatProof(deep).length, 5_000);
});
