import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSchema } from "../../src/language/parse.ts";
import type { ExpressionNode } from "../../src/language/tree.ts";
import { type Shape, shapeOf } from "./shape.ts";

/** The shape of `expression` as the permission of a schema. */
function expressionOf(expression: string): Shape | undefined {
  const [entity] = shapeOf(parseSchema(`entity e { permission p = ${expression}\n}`));
  const permission = entity?.[2]?.[0];
  return permission?.[2];
}

/** The text of an expression and of all parts of it, each before its own parts. */
function textsOf(text: string, node: ExpressionNode): readonly string[] {
  const own = text.slice(node.span.start, node.span.end);
  const parts =
    node.kind === "reference"
      ? []
      : node.kind === "invocation"
        ? node.arguments
        : [node.left, node.right];
  return [own, ...parts.flatMap((part) => textsOf(text, part))];
}

const viewer = [["entity", "doc", [["relation", "viewer", [["user"]]]]]];

test("statements need no separator", () => {
  const text =
    "entity doc{relation a @user relation b @user@org#admin permission p=a or b attribute c boolean[]action q=p}";
  assert.deepEqual(shapeOf(parseSchema(text)), [
    [
      "entity",
      "doc",
      [
        ["relation", "a", [["user"]]],
        ["relation", "b", [["user"], ["org", "admin"]]],
        ["permission", "p", ["or", "a", "b"]],
        ["attribute", "c", "boolean[]"],
        ["permission", "q", "p"],
      ],
    ],
  ]);
});

test("operators share one precedence and associate to the left", () => {
  assert.deepEqual(expressionOf("a or b and c"), ["and", ["or", "a", "b"], "c"]);
  assert.deepEqual(expressionOf("a and b or c"), ["or", ["and", "a", "b"], "c"]);
  assert.deepEqual(expressionOf("a not b or c"), ["or", ["not", "a", "b"], "c"]);
  assert.deepEqual(expressionOf("a or b or c"), ["or", ["or", "a", "b"], "c"]);
});

test("parentheses group, and redundant ones change nothing", () => {
  assert.deepEqual(expressionOf("a or (b and c)"), ["or", "a", ["and", "b", "c"]]);
  assert.deepEqual(expressionOf("((a)) or ((b not (c)))"), ["or", "a", ["not", "b", "c"]]);
});

test("an expression knows its text, without parentheses around it", () => {
  const expression = "(a or  b.c) and // all\n f( x, y ) not (d)";
  const text = `entity e { permission p = (${expression})\n}`;
  const [entity] = parseSchema(text).statements;
  assert.ok(entity?.kind === "entity");
  const [permission] = entity.members;
  assert.ok(permission?.kind === "permission");
  assert.deepEqual(textsOf(text, permission.expression), [
    expression,
    "(a or  b.c) and // all\n f( x, y )",
    "a or  b.c",
    "a",
    "b.c",
    "f( x, y )",
    "x",
    "y",
    "d",
  ]);
});

test("a call has attributes of the entity as arguments", () => {
  assert.deepEqual(expressionOf("f(a, b) or g()"), ["or", ["call", "f", "a", "b"], ["call", "g"]]);
});

test("a line break may stand between any two tokens", () => {
  const expected = ["or", ["and", "a", "b.c"], ["call", "f", "x", "y"]];
  const tokens = "( a and b . c ) or f ( x , y )".split(" ");
  for (const gap of ["\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\\n", " // so\n", " /* so\n */ "]) {
    assert.deepEqual(expressionOf(tokens.join(gap)), expected, JSON.stringify(gap));
  }
  const text = "\n\nentity\ndoc\n{\n\nrelation\nviewer\n@\nuser\n\n}\n\n";
  assert.deepEqual(shapeOf(parseSchema(text)), viewer);
});

test("an operator may begin the next line", () => {
  assert.deepEqual(expressionOf("a\n    or b\n\n    not c"), ["not", ["or", "a", "b"], "c"]);
});

test("a semicolon separates as a line break does", () => {
  const text = ";entity doc {; relation viewer @user; ;permission p = ; viewer or ; (; viewer;);};";
  assert.equal(shapeOf(parseSchema(text)).length, 1);
});

test("a backslash with an n counts as a line break outside of strings", () => {
  const text = "// users\\nentity user {}\\nentity doc {\\n  relation viewer @user\\n}";
  assert.deepEqual(shapeOf(parseSchema(text)), [["entity", "user", []], ...viewer]);
  const [rule] = parseSchema(
    `rule r(s string) {\\n s == 'a\\nb' || s == "\\n" // it's\\n }`,
  ).statements;
  assert.ok(rule?.kind === "rule");
  assert.equal(rule.body.text, ` \n s == 'a\\nb' || s == "\\n" // it's \n `);
});

test("comments may stand between any two tokens", () => {
  const text =
    "/* } */ entity /* a */ doc { // {\n relation viewer // the readers\n @user /**/ } // end";
  assert.deepEqual(shapeOf(parseSchema(text)), viewer);
});

test("the body of a rule is taken verbatim up to its brace", () => {
  const bodies = [
    "a in b",
    "\n  a > 5",
    `a == "}" && b == '{'`,
    `{"x": {"y": 1}}.x.y == 1`,
    "a > 1 // }\n && true",
    "a > 1 /* } */",
    `r'\\' == "\\"}"`,
    `"""a " }""" == '''it's }'''`,
    "s == 'größer } é'",
    "",
  ];
  for (const body of bodies) {
    const [rule, entity] = parseSchema(
      `rule r(a integer, b string[],) {${body}}entity x{}`,
    ).statements;
    assert.ok(rule?.kind === "rule" && entity?.kind === "entity", body);
    assert.equal(rule.body.text, body);
    assert.equal(rule.parameters.length, 2);
  }
});

test("positions count lines and columns from 1", () => {
  const [first, second] = parseSchema("entity user {}\r\n\tentity doc {}").statements;
  assert.deepEqual(first?.name.position, { line: 1, column: 8, field: undefined });
  assert.deepEqual(second?.name.position, { line: 2, column: 9, field: undefined });
});

test("an escaped line break moves positions as a line break does", () => {
  const [, second] = parseSchema("entity user {}\\n  entity doc {}").statements;
  assert.deepEqual(second?.name.position, { line: 2, column: 10, field: undefined });
});

test("a name may have 64 characters", () => {
  const name = "n".repeat(64);
  assert.equal(parseSchema(`entity ${name} {}`).statements[0]?.name.text, name);
});

test("names that objects inherit are names like others", () => {
  const text = "entity __proto__ { relation constructor @toString }";
  assert.deepEqual(shapeOf(parseSchema(text)), [
    ["entity", "__proto__", [["relation", "constructor", [["toString"]]]]],
  ]);
});
