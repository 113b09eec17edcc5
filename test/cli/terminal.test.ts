import assert from "node:assert/strict";
import { test } from "node:test";

import { widthOf, wrap } from "../../src/base/text-width.ts";
import { createProgress } from "../../src/cli/import-progress.ts";
import { resultFor } from "../../src/cli/output.ts";
import { fitText, fittedLines, redrawn, tableLines } from "../../src/cli/terminal.ts";

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

test("a table that is too wide wraps its widest columns first, and loses nothing", () => {
  const rows = [
    ["id", "x".repeat(100), "a name with several words"],
    ["another", "y", "z"],
  ];
  assert.match(tableLines(rows, 80).join("\n"), /^id +x+ {2}a name with several words$/m);
  for (const width of [12, 30, 50, 80]) {
    const lines = tableLines(rows, width);
    assert.deepEqual(
      lines.filter((line) => widthOf(line) > width),
      [],
    );
    assert.equal(lines.join("").replaceAll(/[^x]/g, "").length, 100);
    if (width > 12) assert.match(lines.join("\n"), /another/);
  }
});

test("a long name does not break the times, addresses and ids beside it", () => {
  const time = "2026-01-02T03:04:05.678901Z";
  const url = "https://localhost:23476";
  const [first] = tableLines([["t1", "n".repeat(200), url, time]], 80);
  assert.match(first ?? "", new RegExp(`^t1  n+  ${url}  ${time}$`));
});

test("a line of progress takes one line of the terminal, however narrow that is", () => {
  const texts = ["[###---] 50%  1000 accepted", "50%  1000 accepted"] as const;
  const at = (columns: number): string => redrawn(texts, { isTTY: true, columns });
  assert.equal(at(80), `\r\u001B[K${texts[0]}`);
  assert.equal(at(20), `\r\u001B[K${texts[1]}`);
  assert.equal(at(9), "\r\u001B[K50%  100");
  assert.equal(at(0), at(80));
});

test("nothing is broken for a terminal that does not say how wide it is", () => {
  const text = `${"word ".repeat(100)}end`;
  assert.equal(fitText(text, { isTTY: true, columns: 0 }), text);
  assert.notEqual(fitText(text, { isTTY: true, columns: 80 }), text);
});

test("a help text that is too wide has its paragraphs joined, and its columns kept", () => {
  const text = [
    "A paragraph of two",
    "lines.",
    "",
    "  --flag  what it is about and more",
    "          and its second line",
    "  short   x",
    "",
    "  pemba one",
    "  pemba two",
  ].join("\n");
  assert.deepEqual(fittedLines(text, 80), text.split("\n"));
  assert.deepEqual(fittedLines(text, 34).slice(2, 4), [
    "  --flag  what it is about and",
    "          more and its second line",
  ]);
  assert.deepEqual(fittedLines(text, 24), [
    "A paragraph of two",
    "lines.",
    "",
    "  --flag  what it is",
    "          about and more",
    "          and its second",
    "          line",
    "  short   x",
    "",
    "  pemba one",
    "  pemba two",
  ]);
});

test("the last line of progress says how far an import came, unless it stopped: it read more than it sent then", () => {
  const counts = { accepted: 0, blank: 0, duplicate: 0, refused: 0, bytes: 10 };
  const shown = (outcome: "done" | "stopped"): string => {
    let text = "";
    const write = (added: string): void => void (text += added);
    const screen = { isTTY: true, columns: 80, write };
    const progress = createProgress(10, { isJson: false, screen, print: () => {} });
    progress.end(counts, outcome);
    return text;
  };
  assert.match(shown("done"), /100% {2}0 accepted/);
  assert.equal(shown("stopped"), "\r\u001B[K");
});

test("a result does not steer a terminal, and is the same JSON there", () => {
  const data = "\u001b[2J\u009b31m\u0007\u007f\u202e\r";
  const json = JSON.stringify({ data });
  const shown = resultFor({ isTTY: true }, `${json}\n`);
  // oxlint-disable-next-line no-control-regex -- these are the characters that it is about
  assert.doesNotMatch(shown, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  assert.deepEqual(JSON.parse(shown), { data });
  assert.equal(
    resultFor({ isTTY: true }, `a\t${data}\n`),
    `a\t${String.raw`\u001b[2J\u009b31m\u0007\u007f\u202e\u000d`}\n`,
  );
});

test("a result keeps its own colours on a terminal, and all of its bytes elsewhere", () => {
  const coloured = "\u001b[32m✓\u001b[39m a";
  assert.equal(resultFor({ isTTY: true }, coloured), coloured);
  assert.equal(resultFor({ isTTY: false }, "\u001b[2J\u009b"), "\u001b[2J\u009b");
});
