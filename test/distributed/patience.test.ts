import assert from "node:assert/strict";
import { test } from "node:test";

import { Patience } from "../../src/distributed/patience.ts";

const bounds = { min: 10, max: 1_000 };

function times(count: number, work: () => void): void {
  for (let nth = 0; nth < count; nth += 1) work();
}

test("an answer may take four times as long as usual, within bounds", () => {
  const patience = new Patience(bounds);
  assert.equal(patience.ms, 10);
  times(100, () => patience.answered(50));
  assert.ok(Math.abs(patience.ms - 200) < 1);
  times(100, () => patience.answered(2));
  assert.equal(patience.ms, 10);
  times(100, () => patience.answered(10_000));
  assert.equal(patience.ms, 1_000);
});

test("when all answers come late, they are soon waited for, and not for ever", () => {
  const patience = new Patience(bounds);
  // All take 300 ms; those that are not waited for are late.
  let late = 0;
  times(1_000, () => {
    if (patience.ms >= 300) {
      patience.answered(300);
      return;
    }
    late += 1;
    patience.late();
  });
  assert.ok(late < 100, `${late} were asked twice`);
  times(1_000, () => patience.late());
  assert.equal(patience.ms, 1_000);
});

test("one of two that never answers changes little", () => {
  const patience = new Patience(bounds);
  times(1_000, () => {
    patience.answered(5);
    patience.late();
  });
  assert.ok(patience.ms < 50, `${patience.ms}`);
});
