import assert from "node:assert/strict";
import { test } from "node:test";

import type { Proof } from "../../src/console/api/permissions.ts";
import { reasonOf } from "../../src/console/views/ask/proof-words.ts";

function nodeOf(
  can: Proof["can"],
  reason: Proof["reason"],
  children: readonly Proof[] = [],
): Proof {
  const entity = { type: "document", id: "1" };
  return {
    entity,
    name: "viewer",
    can,
    reason,
    expression: "viewer",
    line: 1,
    column: 1,
    children,
  };
}

test("a userset without a tuple is the subject if it is allowed, and else has several tuples", () => {
  assert.equal(reasonOf(nodeOf("RESULT_ALLOWED", "USERSET")), "the subject is this userset itself");
  const denied = nodeOf("RESULT_DENIED", "NO_TUPLE");
  for (const reason of ["USERSET", "WALK"] as const) {
    const words = reasonOf(nodeOf("RESULT_DENIED", reason, [denied, denied]));
    assert.equal(words, "several tuples lead on");
    assert.equal(reasonOf(nodeOf("RESULT_DENIED", reason)), words);
  }
});

test("a denied union of one operand is not said to hold", () => {
  const denied = nodeOf("RESULT_DENIED", "NO_TUPLE");
  assert.equal(
    reasonOf(nodeOf("RESULT_DENIED", "UNION", [denied])),
    "one operand is enough, and none holds",
  );
  const allowed = nodeOf("RESULT_ALLOWED", "TUPLE");
  assert.equal(reasonOf(nodeOf("RESULT_ALLOWED", "UNION", [allowed])), "by the operand below");
});

test("a denied exclusion says which side denies", () => {
  const allowed = nodeOf("RESULT_ALLOWED", "TUPLE");
  const denied = nodeOf("RESULT_DENIED", "NO_TUPLE");
  const words = (...children: readonly Proof[]): string =>
    reasonOf(nodeOf("RESULT_DENIED", "EXCLUSION", children));
  assert.equal(words(denied, denied), "the left side is denied");
  assert.equal(words(allowed, allowed), "the right side is allowed, which excludes");
  const rule = "the first operand must hold, and none that follows";
  assert.equal(words(), rule);
  assert.equal(reasonOf(nodeOf("RESULT_ALLOWED", "EXCLUSION", [allowed, denied])), rule);
});
