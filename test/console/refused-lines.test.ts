import assert from "node:assert/strict";
import { test } from "node:test";

import { refusedLines } from "../../src/console/views/data/refused-lines.ts";

test("the facts that a server refuses are told by their lines", () => {
  const details = [
    { field: "tuples[1].relation", message: "no relation" },
    { field: "tuples[0].subject.id", message: "no id" },
    { field: "context.attributes[0].value", message: "no value" },
  ];
  assert.deepEqual(refusedLines({ details }, { tuples: [3, 7], attributes: [5] }), [
    { line: 7, message: "no relation" },
    { line: 3, message: "no id" },
    { line: 5, message: "no value" },
  ]);
});

test("an error that is not of facts has no lines", () => {
  const lines = { tuples: [3, 7], attributes: [] };
  assert.deepEqual(refusedLines({ details: [] }, lines), []);
  const detail = { field: "metadata.schema_version", message: "no version" };
  assert.deepEqual(refusedLines({ details: [detail] }, lines), []);
});
