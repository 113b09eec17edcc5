import assert from "node:assert/strict";
import { test } from "node:test";

import { compileCondition } from "../../src/condition/compile.ts";
import { allParts } from "../../src/condition/parts.ts";
import type { ConditionTree } from "../../src/condition/tree.ts";

/** Each holds a number of its own, or the data, in each of its places. */
const rules: Readonly<Record<ConditionTree["kind"], string>> = {
  literal: "1 == 2",
  parameter: "p == 1 || p == 2",
  data: "context.data.x == 1",
  variable: "[1].exists(v, v == 2)",
  select: "{'a': 1}.a == 2",
  has: "has(context.data.a)",
  index: "[1, 2][3] == 4",
  unary: "-(1 + 2) == 3",
  logical: "1 == 2 && 3 == 4 && 5 == 6",
  binary: "1 + 2 < 3",
  ternary: "1 == 2 ? 3 == 4 : 5 == 6",
  call: "int(1) == 2",
  method: "string(1).startsWith(string(2))",
  list: "3 in [1, 2]",
  map: "3 in {1: 4, 2: 5}",
  comprehension: "[1, 2].all(v, v > 3)",
  transform: "[1].map(v, v > 2, v + 3).exists(v, v == 4)",
};

for (const [kind, text] of Object.entries(rules)) {
  test(`no part is passed over where a rule has a ${kind}`, () => {
    const outcome = compileCondition(text, new Map([["p", "integer"]]));
    assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
    const parts = [...allParts(outcome.condition.tree)];
    assert.ok(parts.some((part) => part.kind === kind));
    const data = parts.filter((part) => part.kind === "data");
    assert.equal(data.length, text.match(/context\.data/g)?.length ?? 0);
    const numbers = parts.flatMap((part) =>
      part.kind === "literal" && part.value.kind === "int" ? [Number(part.value.value)] : [],
    );
    const written = text.match(/\d+/g)?.map(Number) ?? [];
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      written.toSorted((a, b) => a - b),
    );
  });
}
