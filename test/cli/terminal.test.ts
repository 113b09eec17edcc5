import assert from "node:assert/strict";
import { test } from "node:test";

import { fittedLines, tableLines, widthOf, wrap } from "../../src/cli/terminal.ts";

test("a text is wrapped at blanks, and within words that are too long", () => {
  assert.deepEqual(wrap("one two three", 20), ["one two three"]);
  assert.deepEqual(wrap("one two three", 8), ["one two", "three"]);
  assert.deepEqual(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
  assert.deepEqual(wrap("", 4), [""]);
});

test("wide characters count as two columns, and combining ones as none", () => {
  assert.equal(widthOf("界e\u0301"), 3);
  assert.deepEqual(wrap("界界界", 4), ["界界", "界"]);
});

test("the columns of a table stand below each other", () => {
  const rows = [
    ["t1", "first"],
    ["acme", "界"],
  ];
  assert.deepEqual(tableLines(rows, Number.POSITIVE_INFINITY), ["t1    first", "acme  界"]);
  assert.deepEqual(tableLines([], 80), []);
});

test("a table that is too wide wraps its last columns first, and loses nothing", () => {
  const rows = [
    ["id", "x".repeat(100), "a name with several words"],
    ["another", "y", "z"],
  ];
  assert.match(tableLines(rows, 80).join("\n"), /^id +x+ {2}a name$/m);
  for (const width of [30, 50, 80]) {
    const lines = tableLines(rows, width);
    assert.deepEqual(
      lines.filter((line) => widthOf(line) > width),
      [],
    );
    assert.equal(lines.join("").replaceAll(/[^x]/g, "").length, 100);
    assert.match(lines.join("\n"), /another/);
  }
});

test("a help text that is too wide has its paragraphs joined, and its columns kept", () => {
  const text = [
    "A paragraph of two",
    "lines.",
    "",
    "  --flag  what it is about and more",
    "          and its second line",
    "  short   x",
  ].join("\n");
  assert.deepEqual(fittedLines(text, 80), text.split("\n"));
  assert.deepEqual(fittedLines(text, 24), [
    "A paragraph of two",
    "lines.",
    "",
    "  --flag  what it is",
    "          about and more",
    "          and its second",
    "          line",
    "  short   x",
  ]);
});
