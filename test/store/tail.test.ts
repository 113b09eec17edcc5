import assert from "node:assert/strict";
import { test } from "node:test";

import type { SchemaVersion } from "../../src/base/tuple.ts";
import { Tail, type TailChange } from "../../src/store/layer/tail.ts";

const state = { head: "v1" as SchemaVersion, shown: "1:1:" };

function change(entityId: string): TailChange {
  return { entityType: "doc", name: "owner", entityId, subject: undefined };
}

const touches =
  (id: string) =>
  ({ entityId }: TailChange): boolean =>
    entityId === id;

test("a change counts for what was known before it, and not for what was known with it", () => {
  const tail = new Tail(10, state);
  tail.moveTo(11, state, [change("a")]);
  tail.moveTo(12, state, [change("b")]);
  assert.equal(tail.isUntouchedSince(10, touches("a")), false);
  assert.equal(tail.isUntouchedSince(11, touches("a")), true);
  assert.equal(tail.isUntouchedSince(11, touches("b")), false);
  assert.equal(tail.isUntouchedSince(12, touches("b")), true);
  assert.equal(tail.isUntouchedSince(10, touches("c")), true);
});

test("nothing is known of what lies before the begin of a tail", () => {
  const tail = new Tail(10, state);
  assert.equal(tail.isUntouchedSince(9, touches("a")), false);
});

test("of many changes the first are forgotten, and what was known before them is no longer known", () => {
  const tail = new Tail(0, state);
  const { bytes } = tail;
  for (let position = 1; position <= 1_000; position += 1) {
    tail.moveTo(position, state, [change(String(position))]);
  }
  assert.equal(tail.isUntouchedSince(0, touches("none")), false);
  assert.equal(tail.isUntouchedSince(990, touches("none")), true);
  assert.equal(tail.isUntouchedSince(990, touches("995")), false);
  assert.ok(tail.bytes > bytes && tail.bytes < 50_000, String(tail.bytes));
});

test("changes that were read at once are forgotten at once", () => {
  const tail = new Tail(0, state);
  const many = Array.from({ length: 100 }, (_, nth) => change(String(nth)));
  tail.moveTo(1, state, many);
  tail.moveTo(2, state, many);
  assert.equal(tail.isUntouchedSince(0, touches("none")), false);
  assert.equal(tail.isUntouchedSince(1, touches("none")), true);
});
