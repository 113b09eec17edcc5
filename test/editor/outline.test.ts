import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { runThrough } from "../../src/base/steps.ts";
import { outlineOf } from "../../src/editor/outline.ts";
import { operandsOf } from "../../src/language/operand.ts";
import { parseSchema } from "../../src/language/parse.ts";
import type { MemberNode, Name, SchemaTree } from "../../src/language/tree.ts";
import { laidOut, schemas, tokenSoup } from "../language/arbitrary-schema.ts";

const runs = { numRuns: 1_000 };

/** The names of a tree, as `line:column text`, in the order of the text. */
function namesOf({ statements }: SchemaTree): readonly string[] {
  const names = statements.flatMap((statement): readonly Name[] =>
    statement.kind === "rule"
      ? [statement.name, ...statement.parameters.flatMap(({ name, type }) => [name, type])]
      : [statement.name, ...statement.members.flatMap(namesOfMember)],
  );
  return names
    .toSorted((a, b) => a.position.line - b.position.line || a.position.column - b.position.column)
    .map(({ text, position: { line, column } }) => `${line}:${column} ${text.replace("[]", "")}`);
}

function namesOfMember(member: MemberNode): readonly Name[] {
  switch (member.kind) {
    case "relation":
      return [
        member.name,
        ...member.types.flatMap(({ type, relation }) => (relation ? [type, relation] : [type])),
      ];
    case "attribute":
      return [member.name, member.type];
    case "permission":
      return [
        member.name,
        ...[...operandsOf(member.expression)].flatMap(({ leaf }) =>
          leaf.kind === "reference"
            ? [leaf.first, ...leaf.rest]
            : [leaf.rule, ...leaf.arguments.flatMap(({ first, rest }) => [first, ...rest])],
        ),
      ];
  }
}

test("the outline of a text has the names of its tree, at their places", () => {
  fc.assert(
    fc.property(laidOut(schemas), ({ text }) => {
      const tree = parseSchema(text);
      const { source } = tree;
      const { mentions } = runThrough(outlineOf(source.text));
      const found = mentions
        .filter(({ naming }) => naming.role !== "parameter")
        .map(({ text: name, span }) => {
          const line = source.lines.findLastIndex((start) => start <= span.start);
          return `${line + 1}:${span.start - (source.lines[line] ?? 0) + 1} ${name}`;
        });
      assert.deepEqual(found, namesOf(tree));
    }),
    runs,
  );
});

test("the outline of any text is found, and its names are where they stand", () => {
  fc.assert(
    fc.property(tokenSoup, (text) => {
      let last = 0;
      for (const { text: name, span } of runThrough(outlineOf(text)).mentions) {
        assert.ok(span.start >= last);
        assert.equal(text.slice(span.start, span.end), name);
        last = span.end;
      }
    }),
    runs,
  );
});

test("a member that is being written does not hide the members and statements behind it", () => {
  const text = `entity user {
}
entity document {
  relation owner @user @
  permission edit = owner or
  permission view = edit or (
entity folder {
  relation parent @folder
}
rule open(a integer) { a >
entity last {}`;
  const keys = runThrough(outlineOf(text)).declarations.flatMap(({ key, children }) => [
    key,
    ...children.map((child) => child.key),
  ]);
  assert.deepEqual(keys, [
    "user",
    "document",
    "document#owner",
    "document#edit",
    "document#view",
    "folder",
    "folder#parent",
    "open",
    "open(a",
    "last",
  ]);
});

test("a parameter in the body of a rule is a name, and other words of that spelling are not", () => {
  const text = `rule r(a string, list string[]) {
    a == "a" && x.a == 'it' && list.exists(a, a == context.data.a) && [a] == list // a
    && r'a' == a.b /* a */
  }`;
  const { mentions } = runThrough(outlineOf(text));
  const found = mentions.filter(
    ({ naming, text: name }) => naming.role === "parameter" && name === "a",
  );
  assert.deepEqual(
    found.map(({ span }) => text.slice(span.start - 1, span.end + 2)),
    [" a ==", "[a] ", " a.b"].map((part) => part.slice(0, 4)),
  );
});

test("a long text is read in many steps, however it is made", () => {
  const texts = [
    "entity a { permission p = a".padEnd(200_000, " or a"),
    "rule a() { ".repeat(20_000),
    "rule a()\n { ".repeat(20_000),
    "relation a @b".padEnd(200_000, "@b#c"),
    "permission a = r(".padEnd(200_000, "x,"),
    "permission a = b".padEnd(200_000, ".c"),
    "rule r(a string) {".padEnd(200_000, "(a["),
    "'\\".repeat(100_000),
    ";".repeat(200_000),
  ];
  for (const text of texts) {
    const steps = [...outlineOf(text)].length;
    assert.ok(steps > 100, `${text.slice(0, 30)}: ${steps} steps`);
  }
});
