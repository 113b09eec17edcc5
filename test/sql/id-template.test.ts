import assert from "node:assert/strict";
import { test } from "node:test";

import { type IdTemplate, isReadable, mayBeUnfit } from "../../src/sql/application/id-template.ts";

/** `{name:type}` stands for a column. */
function template(text: string): IdTemplate {
  return text
    .split(/(\{[^}]*\})/)
    .filter((part) => part !== "")
    .map((part) => {
      const [, name, type] = /^\{(.*):(.*)\}$/.exec(part) ?? [];
      return name === undefined || type === undefined
        ? { kind: "text", text: part }
        : { kind: "column", column: { name, type } };
    });
}

test("an id is readable if it tells where each column ends", () => {
  for (const readable of [
    "root",
    "{a:text}",
    "doc-{a:text}-x",
    "{a:integer}:{b:text}",
    "{a:text}:{b:integer}",
    "{a:integer}.{b:bigint}.{c:smallint}",
    "{a:uuid}{b:text}",
    "{a:text}{b:uuid}",
    "{a:integer}x{b:text}x{c:integer}",
    "{a:uuid}-{b:text}-{c:uuid}",
  ]) {
    assert.ok(isReadable(template(readable)), readable);
  }
  for (const unreadable of [
    "{a:text}:{b:text}",
    "{a:integer}{b:integer}",
    "{a:integer}-{b:integer}",
    "{a:integer}7{b:text}",
    "{a:text}:{b:integer}:{c:text}",
    "{a:integer}:{b:text}-{c:integer}",
    "{a:text}{b:character varying}",
  ]) {
    assert.ok(!isReadable(template(unreadable)), unreadable);
  }
});

test("only a text can make an id that is none", () => {
  assert.ok(!mayBeUnfit(template("x{a:uuid}:{b:integer}")));
  assert.ok(mayBeUnfit(template("{a:integer}:{b:text}")));
});
