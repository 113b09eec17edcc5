import assert from "node:assert/strict";
import { test } from "node:test";

import { jsonInSteps } from "../../src/base/json-steps.ts";
import { runThrough } from "../../src/base/steps.ts";

function written(value: unknown): string {
  return runThrough(jsonInSteps(value)).toString();
}

test("a value is written as `JSON.stringify` writes it", () => {
  let chain: object = { end: [] };
  for (let at = 0; at < 1_000; at++) chain = { at, below: [chain] };
  const values = [
    null,
    false,
    -0.5,
    'quoted "text", é and 😀, \u0000, \ud800',
    [],
    {},
    [[], {}, [[1, 2], { a: {} }]],
    { flat: 1, text: "x", none: undefined },
    { none: undefined, list: [1], other: undefined, last: null },
    { 'a "key"': { __proto__: null, inner: [true] }, é: [{}] },
    JSON.parse('{"__proto__":[{"constructor":1}]}'),
    chain,
    Array.from({ length: 5_000 }, (_, at) => ({ type: "user", id: `é${at}`, relation: "" })),
  ];
  for (const value of values) assert.equal(written(value), JSON.stringify(value));
  assert.equal(written(values), JSON.stringify(values));
});

test("of megabytes no step writes more than some ten thousand characters", () => {
  const item = { id: "x".repeat(128), values: ["y".repeat(100)] };
  const list = Array.from({ length: 10_000 }, () => item);
  let pauses = 0;
  for (const steps = jsonInSteps(list); steps.next().done !== true;) pauses += 1;
  assert.ok(pauses > JSON.stringify(list).length / 40_000, `${pauses} pauses`);
  // A small one is written at once.
  assert.equal(jsonInSteps(list.slice(0, 20)).next().done, true);
});
