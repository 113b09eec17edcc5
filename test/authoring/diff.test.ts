import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { diffSchemas } from "../../src/authoring/diff/diff.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { printSchema } from "../../src/language/print.ts";
import { schemaShape, schemaSketch } from "../differential/generate-schema.ts";

const rest = `entity user {}
entity doc {
  relation parent @doc
  relation a @user
  relation b @user
  relation c @user
  relation d @user
  attribute level integer
  attribute size integer
  permission p = EXPRESSION
}
rule f(level integer, size integer) { level > size }`;

/** Whether a permission differs when one expression takes the place of another. */
function differs(before: string, after: string): boolean {
  const [one, other] = [before, after].map((text) =>
    compileSchemaText(rest.replace("EXPRESSION", text)),
  );
  assert.ok(one !== undefined && other !== undefined);
  return diffSchemas(one, other).length > 0;
}

function diffTexts(before: string, after: string): readonly string[] {
  return diffSchemas(compileSchemaText(before), compileSchemaText(after)).map(
    ({ kind, of, name }) => `${kind} ${of} ${name}`,
  );
}

test("a permission that is written in another way does not differ", () => {
  for (const [one, other] of [
    ["a or b or c", "c or (b or a)"],
    ["a and (b and c)", "c and b and a and a"],
    ["a or b and c", "c and (b or a)"],
    ["a not b not c", "a not (c or b)"],
    ["(a)", "a"],
    ["f(level, size)", "f(size, level)"],
    ["a or a", "a"],
    ["parent.p or a", "a or parent.p"],
  ] as const) {
    assert.equal(differs(one, other), false, `${one} and ${other}`);
  }
});

test("a permission with another meaning differs", () => {
  for (const [one, other] of [
    ["a or b", "a and b"],
    ["a not b", "b not a"],
    ["a or b and c", "a or (b and c)"],
    ["a not b not c", "a not (b not c)"],
    ["a not (b and c)", "a not b not c"],
    ["parent.p", "p"],
    ["parent.a", "parent.b"],
    ["a", "a or b"],
  ] as const) {
    assert.equal(differs(one, other), true, `${one} and ${other}`);
    assert.equal(differs(other, one), true, `${other} and ${one}`);
  }
});

test("a schema does not differ from itself when it is printed anew and its statements move", () => {
  fc.assert(
    fc.property(schemaSketch, (sketch) => {
      const { text } = schemaShape(sketch, false);
      const { source, statements } = parseSchema(text);
      const moved = statements
        .toReversed()
        .map((statement) =>
          statement.kind === "rule"
            ? statement
            : { ...statement, members: statement.members.toReversed() },
        );
      assert.deepEqual(diffTexts(text, printSchema({ source, statements: moved })), []);
    }),
    { numRuns: 100 },
  );
});

test("names that vanish, that are new and that change their kind are told", () => {
  assert.deepEqual(
    diffTexts(
      `entity user {} entity robot {} entity doc { relation a @user relation b @user attribute n integer permission p = a permission q = a }`,
      `entity user {} entity team {} entity doc { relation a @user attribute n string attribute m string permission p = a permission b = a }`,
    ),
    [
      "removed entity robot",
      "added entity team",
      "removed relation doc#b",
      "changed attribute doc#n",
      "removed permission doc#q",
      "added attribute doc#m",
      "added permission doc#b",
    ],
  );
});

test("a relation differs by its types, not by their order, and tells the types that it lost", () => {
  const before = compileSchemaText(
    "entity user {} entity team { relation member @user @team#member } entity doc { relation a @user @team#member }",
  );
  const after = (types: string): ReturnType<typeof compileSchemaText> =>
    compileSchemaText(
      `entity user {} entity team { relation member @team#member @user } entity doc { relation a ${types} }`,
    );
  assert.deepEqual(diffSchemas(before, after("@team#member @user")), []);
  assert.deepEqual(diffSchemas(before, after("@user @team")), [
    {
      kind: "changed",
      of: "relation",
      name: "doc#a",
      before: "@user @team#member",
      after: "@user @team",
      removedTypes: [{ type: "team", relation: "member" }],
    },
  ]);
});

test("a rule differs by its parameters and its condition, not by blanks and comments", () => {
  const schema = (rule: string): string => `entity user {} rule ${rule}`;
  const base = schema("f(a integer, b integer) { a > 1 && b > 2 }");
  assert.deepEqual(
    diffTexts(base, schema("f(b integer, a integer) {\n // why\n a>1 && (b > 2)\n}")),
    [],
  );
  for (const other of [
    "f(a integer, b integer) { a > 1 && b > 3 }",
    "f(a integer, b integer) { b > 2 && a > 1 }",
    "f(a integer, b double) { a > 1 && b > 2.0 }",
  ]) {
    assert.deepEqual(diffTexts(base, schema(other)), ["changed rule f"], other);
  }
});

test("a long chain of operators is compared", () => {
  const chain = `${"a or b and ".repeat(10_000)}a`;
  assert.equal(differs(chain, chain), false);
  assert.equal(differs(chain, `${chain} or c`), true);
});
