import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { compileSchemaText } from "../../src/language/compile.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { printExpression, printSchema } from "../../src/language/print.ts";
import { laidOut, schemas } from "./arbitrary-schema.ts";
import { shapeOf } from "./shape.ts";

const runs = { numRuns: 300 };

test("the layout of a schema does not change its meaning", () => {
  fc.assert(
    fc.property(laidOut(schemas), ({ shape, text }) => {
      assert.deepEqual(shapeOf(parseSchema(text)), shape);
    }),
    runs,
  );
});

test("what is printed parses to the same tree and prints the same again", () => {
  fc.assert(
    fc.property(laidOut(schemas), ({ shape, text }) => {
      const printed = printSchema(parseSchema(text));
      assert.deepEqual(shapeOf(parseSchema(printed)), shape);
      assert.equal(printSchema(parseSchema(printed)), printed);
    }),
    runs,
  );
});

test("a schema is printed one statement a line", () => {
  const text = `entity user{}entity doc{relation a @user @doc#a attribute n integer[]
    action view=(a or b) and doc_of.a or f(n) relation doc_of @doc relation b @user}
    rule f(n integer[]){ size(n) > 1 }`;
  assert.equal(
    printSchema(parseSchema(text)),
    `entity user {}

entity doc {
  relation a @user @doc#a
  attribute n integer[]
  permission view = ((a or b) and doc_of.a) or f(n)
  relation doc_of @doc
  relation b @user
}

rule f(n integer[]) { size(n) > 1 }
`,
  );
});

test("an expression of a compiled schema is printed as in the language", () => {
  const print = (expression: string): string | undefined => {
    const schema = compileSchemaText(`
      entity user {}
      entity doc {
        relation parent @doc
        relation owner @user
        attribute public boolean
        attribute level integer
        permission edit = owner
        permission view = ${expression}
      }
      rule high(level integer) { level > 3 }`);
    const permission = schema.entities.get("doc")?.permissions.get("view");
    return permission && printExpression(permission.expression);
  };
  for (const text of [
    "owner",
    "parent.view or owner",
    "owner or edit or public",
    "(owner or edit) and public",
    "owner not (edit and high(level))",
    "owner or (edit or public)",
    "((owner and edit) or public) not parent.edit",
  ]) {
    assert.equal(print(text), text);
  }
  assert.equal(print("(owner or edit) or public"), "owner or edit or public");
  assert.equal(print("owner or edit and public"), "(owner or edit) and public");
});

test("a chain with more mixes than parentheses may nest still parses when printed", () => {
  const chain = `a${" or b and c".repeat(1_000)}`;
  const tree = parseSchema(`entity e { permission p = ${chain} }`);
  const printed = printSchema(tree);
  assert.ok(printed.includes(chain));
  assert.equal(printSchema(parseSchema(printed)), printed);
});
