import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { permissionsOf } from "../../src/language/operand.ts";
import { parseSchema } from "../../src/language/parse.ts";
import type { ExpressionNode } from "../../src/language/tree.ts";
import { decide } from "../../src/model-test/coverage/decisive.ts";
import { leavesOf } from "../../src/model-test/coverage/schema-part.ts";

function expressionOf(text: string): ExpressionNode {
  const [first] = permissionsOf(parseSchema(`entity a { permission p = ${text} }`));
  return first?.permission.expression ?? assert.fail();
}

/** The meaning of an expression, by recursion. */
function valueOf(node: ExpressionNode, leaves: ReadonlyMap<ExpressionNode, boolean>): boolean {
  if (node.kind === "reference" || node.kind === "invocation") return leaves.get(node) ?? false;
  const left = valueOf(node.left, leaves);
  const right = valueOf(node.right, leaves);
  if (node.kind === "or") return left || right;
  return left && (node.kind === "and" ? right : !right);
}

const { tree: expressionText } = fc.letrec<{ tree: string; leaf: string; operation: string }>(
  (tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("operation")),
    leaf: fc.constantFrom("x", "y", "z", "r.s", "high(a)"),
    operation: fc
      .tuple(tie("tree"), fc.constantFrom("or", "and", "not"), tie("tree"))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
  }),
);

test("a decisive operand is one whose other value would turn the expression, and no other is", () => {
  fc.assert(
    fc.property(expressionText, fc.infiniteStream(fc.boolean()), (text, values) => {
      const expression = expressionOf(text);
      const leaves = leavesOf(expression);
      const given = new Map<ExpressionNode, boolean>(
        leaves.map((leaf) => [leaf, values.next().value === true]),
      );
      const value = valueOf(expression, given);
      const turning = leaves.filter((leaf) => {
        const flipped = new Map(given).set(leaf, given.get(leaf) !== true);
        return valueOf(expression, flipped) !== value;
      });
      const decided = decide(expression, (leaf) => given.get(leaf));
      assert.equal(decided.value, value);
      assert.deepEqual(new Set(decided.decisive), new Set(turning));
    }),
    { seed: 18, numRuns: 500 },
  );
});

test("an operand without an answer decides nothing, and hides no side that decides alone", () => {
  const expression = expressionOf("x or y");
  const [x, y] = leavesOf(expression);
  const unknown = decide(expression, (leaf) => (leaf === x ? undefined : false));
  assert.deepEqual(unknown, { value: undefined, decisive: [] });
  const known = decide(expression, (leaf) => (leaf === y ? true : undefined));
  assert.deepEqual(known, { value: true, decisive: [] });
});

test("a chain of thousands of operators is decided without a deep call", () => {
  const expression = expressionOf(Array.from({ length: 20_000 }, () => "x").join(" or "));
  const { decisive } = decide(expression, () => false);
  assert.equal(decisive.length, 20_000);
});
