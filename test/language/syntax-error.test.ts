import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { PembaError } from "../../src/base/error.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { anyText } from "../support/any-text.ts";
import { tokenSoup } from "./arbitrary-schema.ts";
import { problemsOf, refusalOf } from "./problems.ts";

/** Asserts that each text has exactly the one problem. */
function assertProblem(cases: Readonly<Record<string, string>>): void {
  for (const [text, problem] of Object.entries(cases)) {
    assert.deepEqual(
      problemsOf(() => parseSchema(text)),
      [problem],
      text,
    );
  }
}

test("the message begins with the place of the first error", () => {
  const error = refusalOf(() => parseSchema("entity user {}\nentity doc relation"));
  assert.equal(error.code, "SCHEMA_PARSE");
  assert.equal(
    error.message,
    "ERROR_CODE_SCHEMA_PARSE: 2:12: expected next token to be LCB, got RELATION instead: expected `{`, found `relation`",
  );
});

test("a digit or another sign is no part of a name", () => {
  assertProblem({
    "entity user2 {}":
      "1:12: expected next token to be LCB, got INTEGER instead: expected `{`, found `2` (names are made of letters and `_`)",
    "entity my-doc {}":
      "1:10: expected next token to be LCB, got MINUS instead: expected `{`, found `-` (names are made of letters and `_`)",
    "entity größe {}":
      "1:10: expected next token to be LCB, got ILLEGAL instead: expected `{`, found `ö` (names are made of letters and `_`)",
  });
});

test("a keyword is no name", () => {
  assertProblem({
    "entity relation {}":
      "1:8: expected next token to be IDENT, got RELATION instead: expected a name, found `relation`",
    "entity a { relation in @a }":
      "1:21: expected next token to be IDENT, got IN instead: expected a name, found `in`",
    "entity true {}":
      "1:8: expected next token to be IDENT, got BOOLEAN instead: expected a name, found `true`",
  });
});

test("a name of more than 64 characters is refused", () => {
  const name = "n".repeat(65);
  const message = `name \`${"n".repeat(64)}...\` has 65 characters, at most 64 are allowed`;
  assertProblem({
    [`entity a { relation ${name} @a }`]: `1:21: ${message}`,
    [`entity a { permission p = ${name} }`]: `1:27: ${message}`,
  });
});

test("nothing unexpected at top level is skipped", () => {
  assertProblem({
    "junk entity a {}": "1:1: expected token to be ENTITY, RULE, got IDENT instead: found `junk`",
    "entity a {} }": "1:13: expected token to be ENTITY, RULE, got RCB instead: found `}`",
    "entty a {}":
      "1:1: expected token to be ENTITY, RULE, got IDENT instead: found `entty` (did you mean `entity`?)",
    "relation a @b":
      "1:1: expected token to be ENTITY, RULE, got RELATION instead: found `relation`",
    "entity a {} \\m":
      "1:13: expected token to be ENTITY, RULE, got ILLEGAL instead: found `\\`, which is no part of the language",
    "entity a {}\n\u0000":
      "2:1: expected token to be ENTITY, RULE, got ILLEGAL instead: found U+0000, which is no part of the language",
    "entity a {} /* open":
      "1:13: expected token to be ENTITY, RULE, got ILLEGAL instead: found a comment that is not closed",
  });
});

test("an unexpected token inside an entity is refused", () => {
  assertProblem({
    "entity a { junk }":
      "1:12: expected token to be RELATION, PERMISSION, ATTRIBUTE, got IDENT instead: found `junk`",
    "entity a { permision p = b }":
      "1:12: expected token to be RELATION, PERMISSION, ATTRIBUTE, got IDENT instead: found `permision` (did you mean `permission`?)",
    "entity a { permission p = b c }":
      "1:29: expected token to be RELATION, PERMISSION, ATTRIBUTE, got IDENT instead: found `c`",
    "entity a { permission p = b && c }":
      "1:29: expected token to be RELATION, PERMISSION, ATTRIBUTE, got AMPERSAND instead: found `&`, the operators are `and`, `or` and `not`",
    "entity a { { }":
      "1:12: expected token to be RELATION, PERMISSION, ATTRIBUTE, got LCB instead: found `{`",
    "entity a { relation r }":
      "1:23: expected next token to be SIGN, got RCB instead: expected `@`, found `}`",
    "entity a { relation r @a, @a }":
      "1:25: expected token to be RELATION, PERMISSION, ATTRIBUTE, got COMMA instead: found `,`",
    "entity a { attribute b boolean[ }":
      "1:33: expected next token to be RSB, got RCB instead: expected `]`, found `}`",
  });
});

test("an entity that is not closed is refused where it should end", () => {
  assertProblem({
    "entity a { relation r @a\n":
      "2:1: expected token to be RCB, got EOF instead: entity `a` is not closed",
    "entity a { relation r @a\nentity b {}":
      "2:1: expected token to be RCB, got ENTITY instead: entity `a` is not closed",
  });
});

test("not stands between two operands", () => {
  const hint = "`not` stands between two operands, as in `a not b`";
  assertProblem({
    "entity a { permission p = not b }": `1:27: no prefix parse function for NOT found: ${hint}`,
    "entity a { permission p = b and not c }": `1:33: no prefix parse function for NOT found: ${hint}`,
  });
});

test("an operator without an operand is refused", () => {
  assertProblem({
    "entity a { permission p = b or }":
      "1:32: no prefix parse function for RCB found: expected an operand, found `}`",
    "entity a { permission p = () }":
      "1:28: no prefix parse function for RP found: expected an operand, found `)`",
    "entity a { permission p = (b or c }":
      "1:35: expected next token to be RP, got RCB instead: expected `)`, found `}`",
    "entity a { permission p = b.":
      "1:29: expected next token to be IDENT, got EOF instead: expected a name, found the end of the text",
    "entity a { permission p = f(x, ) }":
      "1:32: expected next token to be IDENT, got RP instead: expected a name, found `)`",
  });
});

test("a rule that is not closed is refused where its body begins", () => {
  assertProblem({
    "rule r(a integer) { a > '}'\nentity b {}":
      "1:19: expected token to be RCB, got EOF instead: the body of rule `r` that begins here is not closed",
    "rule r(a integer) a > 1 }":
      "1:19: expected next token to be LCB, got IDENT instead: expected `{`, found `a`",
  });
});

test("every statement reports its own error", () => {
  const text = `entity user {}
entity doc {
  relation owner user
  relation viewer @user
  permission view = owner or or viewer
  permission edit = owner
}
rule r(level int8) { entity > 1 && rule > 1 }
entity org {
  attribute
}
entity 5 {}
`;
  assert.deepEqual(
    problemsOf(() => parseSchema(text)),
    [
      "3:18: expected next token to be SIGN, got IDENT instead: expected `@`, found `user`",
      "5:30: no prefix parse function for OR found: expected an operand, found `or`",
      "8:17: expected next token to be RP, got INTEGER instead: expected `)`, found `8` (names are made of letters and `_`)",
      "11:1: expected next token to be IDENT, got RCB instead: expected a name, found `}`",
      "12:8: expected next token to be IDENT, got INTEGER instead: expected a name, found `5`",
    ],
  );
  assert.match(refusalOf(() => parseSchema(text)).message, /: 3:18: .* \(and 4 more\)$/);
});

test("parentheses nest a thousand levels deep and no deeper", () => {
  const nested = (depth: number): string =>
    `entity a { permission p = ${"(".repeat(depth)}p${")".repeat(depth)} }`;
  assert.equal(parseSchema(nested(1_000)).statements.length, 1);
  assert.deepEqual(
    problemsOf(() => parseSchema(nested(1_001))),
    ["1:1027: expression is nested too deeply: at most 1000 parentheses may be open"],
  );
});

test("no more than a hundred errors are reported", () => {
  const text = "entity a { relation }\n".repeat(1_000);
  assert.equal(problemsOf(() => parseSchema(text)).length, 100);
});

test("any text is a schema or is refused at places that are in it", () => {
  fc.assert(
    fc.property(fc.oneof(tokenSoup, anyText()), (text) => {
      try {
        parseSchema(text);
      } catch (error) {
        assert.ok(error instanceof PembaError && error.code === "SCHEMA_PARSE");
        const lines = text.split(/\r\n?|\n|\\n/);
        for (const { line = 0, column = 0 } of error.details) {
          assert.ok(column >= 1 && column <= (lines[line - 1] ?? "").length + 2);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});
