import assert from "node:assert/strict";
import { test } from "node:test";

import type { Change } from "../store/change-log.ts";
import { assertEffective, type NotedCall } from "./noted-calls.ts";

const key = "doc 1 limit";

function logged(...lines: readonly (readonly [string, number, "+" | "-", string])[]): Change[] {
  return lines.map(([xid, ordinal, sign, value]) => ({
    xid,
    ordinal,
    operation: sign === "+" ? "create" : "delete",
    key,
    value,
    createdXid: null,
  }));
}

/** Transaction 10 set 1; transaction 20 sets 2 in its place. */
const overwritten = logged(["10", 0, "+", "1"], ["20", 0, "-", "1"], ["20", 1, "+", "2"]);

/** A call of transaction 30 that neither sees what is after it nor has logged anything. */
const call = {
  xid: "30",
  before: { snapshot: "20:20:", logged: 0 },
  after: { snapshot: "21:21:", logged: 0 },
};

const deletion: NotedCall = { ...call, wanted: new Map([[key, undefined]]) };

test("a delete that leaves alone what took the place of a value is found", () => {
  assert.throws(() => assertEffective(overwritten, [deletion]), /the delete of .* is lost/);
});

test("a delete of what took the place of a value is none that is lost", () => {
  const log = [...overwritten, ...logged(["30", 0, "-", "2"])];
  const deleted = { ...deletion, after: { snapshot: "21:21:", logged: 1 } };
  assertEffective(log, [deleted]);
  // It is not this call that has deleted, but a later one of its transaction.
  assert.throws(() => assertEffective(log, [deletion]), /is lost/);
});

test("a delete may come before the value is set, or after another delete", () => {
  assertEffective(logged(["20", 0, "+", "1"]), [deletion]);
  assertEffective(logged(["10", 0, "+", "1"], ["20", 0, "-", "1"]), [deletion]);
  assertEffective(logged(["10", 0, "+", "1"], ["18", 0, "-", "1"], ["20", 0, "+", "2"]), [
    { ...deletion, before: { snapshot: "18:18:", logged: 0 } },
  ]);
});

test("a write whose value never was there is found", () => {
  const writing = (value: string): NotedCall => ({ ...call, wanted: new Map([[key, value]]) });
  assertEffective(overwritten, [writing("1"), writing("2")]);
  assert.throws(() => assertEffective(overwritten, [writing("3")]), /the write of .* is lost/);
  assert.throws(() => assertEffective([], [writing("1")]), /is lost/);
});
