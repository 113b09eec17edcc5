import assert from "node:assert/strict";
import { test } from "node:test";

import { filesLeftOut } from "./left-out.ts";
import { wilson } from "./report.ts";
import { population } from "./sample.ts";

const first = "export function f(a: number, b: number): boolean { return a < b && a > 0; }\n";
const second = "export function g(a: boolean): boolean { return !a || a === true; }\n";

test("one seed draws the same faults in the same order, another seed another order", () => {
  const sources = new Map([
    ["src/x/first.ts", first],
    ["src/x/second.ts", second],
  ]);
  const keys = (seed: number): readonly string[] =>
    population(sources, { seed, leftOut: new Set() }).drawn.map(({ key }) => key);
  assert.deepEqual(keys(1), keys(1));
  assert.notDeepEqual(keys(1), keys(2));
  assert.deepEqual(keys(1).toSorted(), keys(2).toSorted());
});

test("a change of one file leaves the order of the faults of others", () => {
  const drawn = (text: string): readonly string[] =>
    population(
      new Map([
        ["src/x/first.ts", text],
        ["src/x/second.ts", second],
      ]),
      { seed: 1, leftOut: new Set() },
    )
      .drawn.filter(({ file }) => file === "src/x/second.ts")
      .map(({ key }) => key);
  assert.ok(drawn(first).length > 0);
  assert.deepEqual(drawn(first), drawn(`const before = 1;\n${first}`));
});

test("nothing is drawn of what prints plans or lays statements out, and of what only that needs", () => {
  const sources = new Map([
    [
      "src/x/print-plan.ts",
      `import { f } from "./regions.ts";\nimport { g } from "../y/walk.ts";\n`,
    ],
    ["src/x/regions.ts", `import { h } from "./inner.ts";\n${first}`],
    ["src/x/inner.ts", first],
    ["src/x/format-statement.ts", first],
    ["src/y/walk.ts", second],
    ["src/y/build.ts", `import { g } from "./walk.ts";\n${second}`],
  ]);
  const { drawn } = population(sources, { seed: 1, leftOut: filesLeftOut(sources) });
  assert.deepEqual(
    new Set(drawn.map(({ file }) => file)),
    new Set(["src/y/walk.ts", "src/y/build.ts"]),
  );
});

test("the interval of a share is that of Wilson", () => {
  const { low, high } = wilson(15, 20);
  assert.equal(low.toFixed(3), "0.531");
  assert.equal(high.toFixed(3), "0.888");
});
