import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { compareTexts, sortInSteps } from "../../src/base/sort-steps.ts";
import { runThrough } from "../../src/base/steps.ts";

test("a list is sorted as at once, with equal items in their order", () => {
  const items = fc.array(fc.nat({ max: 50 }), { minLength: 2_000, maxLength: 7_000 });
  const property = fc.property(items, (keys) => {
    const listed = keys.map((key, place) => ({ key, place }));
    const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key;
    assert.deepEqual(runThrough(sortInSteps(listed, compare)), listed.toSorted(compare));
  });
  fc.assert(property, { numRuns: 20 });
});

test("a short list and an empty one are sorted too", () => {
  assert.deepEqual(runThrough(sortInSteps(["b", "", "a"], compareTexts)), ["", "a", "b"]);
  assert.deepEqual(runThrough(sortInSteps<string>([], compareTexts)), []);
});

test("sorting a long list yields to other work", () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 20_000);
  const sorting = sortInSteps(keys, (a, b) => a - b);
  let pauses = 0;
  while (sorting.next().done !== true) pauses += 1;
  assert.ok(pauses > 20);
});
