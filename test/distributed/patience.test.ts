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

test("when all answers take longer, they are soon waited for", () => {
  const patience = new Patience(bounds);
  let late = 0;
  times(1_000, () => {
    if (patience.ms < 300) late += 1;
    patience.answered(300);
  });
  assert.ok(late < 10, `${late} were asked twice`);
});
