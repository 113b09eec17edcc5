import assert from "node:assert/strict";
import { test } from "node:test";

import { OutdatedPlans } from "../../src/store/layer/outdated-plans.ts";
import { Sightings } from "../../src/store/layer/sightings.ts";

/** For how many checks the plan rests from now on. */
function restOf(plans: OutdatedPlans): number {
  let count = 0;
  while (plans.rests("plan")) count += 1;
  return count;
}

test("a plan rests twice as long after each failure, and not after the first", () => {
  const plans = new OutdatedPlans();
  const rests = [1, 2, 3, 4].map((position) => {
    plans.failed("plan", position, position + 1);
    return restOf(plans);
  });
  assert.deepEqual(rests, [0, 2, 6, 14]);
  for (let position = 5; position < 30; position += 1) plans.failed("plan", position, position + 1);
  assert.equal(restOf(plans), 254);
});

test("answers that one change outdated are one failure", () => {
  const plans = new OutdatedPlans();
  for (let kept = 0; kept < 100; kept += 1) plans.failed("plan", kept % 5, 7);
  assert.equal(restOf(plans), 0);
  plans.failed("plan", 7, 8);
  assert.equal(restOf(plans), 2);
});

test("answers that hold make up for failures", () => {
  const plans = new OutdatedPlans();
  for (let position = 1; position < 4; position += 1) plans.failed("plan", position, position + 1);
  restOf(plans);
  for (let times = 0; times < 3; times += 1) plans.held("plan");
  plans.failed("plan", 5, 6);
  assert.equal(restOf(plans), 0);
});

test("a text comes again until many others have come", () => {
  const sightings = new Sightings();
  assert.equal(sightings.comesAgain("one"), false);
  assert.equal(sightings.comesAgain("one"), true);
  for (let nth = 0; nth < 1_000_000; nth += 1) sightings.comesAgain(`other ${nth}`);
  assert.equal(sightings.comesAgain("one"), false);
});

test("texts that never came seem to have come in a few cases", () => {
  const sightings = new Sightings();
  let seeming = 0;
  for (let nth = 0; nth < 200_000; nth += 1) {
    if (sightings.comesAgain(`doc:${nth}#view@user:${nth % 97}`)) seeming += 1;
  }
  assert.ok(seeming < 50, String(seeming));
});
