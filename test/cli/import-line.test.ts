import assert from "node:assert/strict";
import { test } from "node:test";

import { type ImportLine, readLine, maxLineBytes } from "../../src/cli/import-line.ts";
import { linesOf } from "../../src/cli/lines.ts";

const place = { file: "f", line: 1 };
const read = (text: string): ImportLine => readLine(Buffer.from(text), place);

function elementOf(text: string): Extract<ImportLine, { kind: "element" }>["element"] {
  const line = read(text);
  return line.kind === "element" ? line.element : assert.fail(JSON.stringify(line));
}

async function split(chunks: readonly (string | Buffer)[]): Promise<readonly string[]> {
  async function* stream(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: string[] = [];
  for await (const line of linesOf(stream(), maxLineBytes)) {
    lines.push(line.kind === "line" ? line.bytes.toString() : `overlong ${line.length}`);
  }
  return lines;
}

test("blank lines and comments are skipped", () => {
  for (const text of ["", "  \t", "# note", " // note", "\r", "\uFEFF"]) {
    assert.deepEqual(read(text), { kind: "skipped" });
  }
});

test("JSON and text that say the same have the same key", () => {
  const json =
    '{"subject":{"id":"2","type":"user"},"relation":"r","entity":{"type":"doc","id":"1"}}';
  assert.equal(elementOf(json).key, elementOf("doc:1#r@user:2").key);
  assert.equal(elementOf(json).json, json);
  assert.notEqual(elementOf(json).key, elementOf("doc:1#r@user:2#m").key);
});

test("the key of an attribute leaves its value out", () => {
  const one = elementOf("doc:1$level|integer:1");
  assert.equal(one.kind, "attribute");
  assert.equal(one.key, elementOf("doc:1$level|integer:2").key);
  assert.notEqual(one.key, elementOf("doc:2$level|integer:1").key);
});

test("a value of text notation becomes the JSON of its message", () => {
  const value = (text: string): unknown => JSON.parse(elementOf(text).json).value;
  assert.deepEqual(value("doc:1$a|boolean:true"), {
    "@type": "type.googleapis.com/base.v1.BooleanValue",
    data: true,
  });
  assert.deepEqual(value("doc:1$a|double[]:1,NaN"), {
    "@type": "type.googleapis.com/base.v1.DoubleArrayValue",
    data: [1, "NaN"],
  });
  assert.deepEqual(value("doc:1$a|double:-0"), {
    "@type": "type.googleapis.com/base.v1.DoubleValue",
    data: "-0",
  });
});

test("a line that is neither JSON nor text notation is refused with its place", () => {
  for (const text of ["{", "null?", '{"entity":{}}', "doc:1#viewer"]) {
    const line = read(text);
    assert.equal(line.kind, "refused");
    assert.deepEqual(line.kind === "refused" && line.place, place);
  }
  assert.deepEqual(readLine(Buffer.from([0x64, 0xff]), place), {
    kind: "refused",
    place,
    reason: "is not UTF-8",
  });
});

test("a stream is split at line ends wherever its chunks end", async () => {
  assert.deepEqual(await split(["a\nb", "b\n", "\nc", "c"]), ["a", "bb", "", "cc"]);
  assert.deepEqual(await split([Buffer.from([0xc3]), Buffer.from([0xbc, 0x0a])]), ["ü"]);
  assert.deepEqual(await split([]), []);
});

test("a line that is too long is passed over without being kept", async () => {
  const half = "x".repeat(maxLineBytes / 2);
  assert.deepEqual(await split([half, half, "y\na\n", half]), [
    `overlong ${maxLineBytes + 2}`,
    "a",
    half,
  ]);
});
