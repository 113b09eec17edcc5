import assert from "node:assert/strict";
import { test } from "node:test";

import { createRateLimit } from "../../src/auth/rate-limit.ts";

/** How many of `requests` may come in one after the other. */
function accepted(limit: ReturnType<typeof createRateLimit>, requests: number): number {
  let count = 0;
  for (let request = 0; request < requests; request++) {
    if (limit.take()) count += 1;
  }
  return count;
}

test("as many requests as come back each second may come at once", () => {
  const limit = createRateLimit(10, () => 5_000);
  assert.equal(accepted(limit, 25), 10);
});

test("what was used comes back evenly, and what is refused uses nothing", () => {
  let now = 0;
  const limit = createRateLimit(10, () => now);
  accepted(limit, 1_000);
  now = 250;
  assert.equal(accepted(limit, 25), 2);
  now = 300;
  assert.equal(accepted(limit, 25), 1);
});

test("the limit refills to its burst only, after any time without requests", () => {
  let now = 0;
  const limit = createRateLimit(3, () => now);
  accepted(limit, 3);
  now = 3_600_000;
  assert.equal(accepted(limit, 25), 3);
});

test("requests at the rate all come in, as slow as one a second and as fast as a million", () => {
  for (const perSecond of [1, 7, 100, 1_000_000]) {
    let now = 0;
    const limit = createRateLimit(perSecond, () => now);
    accepted(limit, perSecond);
    let count = 0;
    for (let request = 1; request <= 1_000; request++) {
      // A hair more than the rate asks for, since thirds and sevenths are rounded.
      now = (request * 1_000.001) / perSecond;
      count += accepted(limit, 1);
    }
    assert.equal(count, 1_000);
  }
});
