import assert from "node:assert/strict";
import { test } from "node:test";

import { runThrough } from "../../src/base/steps.ts";
import { analyseSchema } from "../../src/editor/analysis.ts";
import { completionsAt } from "../../src/editor/complete.ts";
import { hoverAt, type NameHover } from "../../src/editor/hover.ts";
import { schemaProblems } from "../../src/editor/problems.ts";

const model = `// People.
entity user {}

entity organization {
  relation admin @user
  relation member @user @organization#member
}

/* one */
entity document {
  // The organization
  // that pays.
  relation org @organization
  relation owner @user @organization#member
  attribute public boolean
  attribute balance integer

  permission edit = owner or org.admin
  permission view = edit or public or is_rich(balance)
}

rule is_rich(balance integer) {
  balance > 100 && context.data.balance == balance
}
`;

/** Hover at the first place of `part` in the model. */
function hover(part: string): NameHover | undefined {
  return runThrough(hoverAt(runThrough(analyseSchema(model)), model.indexOf(part)));
}

/** The labels that can be written at `|`, with what each inserts if that is another text. */
function labels(text: string): readonly string[] {
  const offset = text.indexOf("|");
  const analysis = runThrough(analyseSchema(text.replace("|", "")));
  return runThrough(completionsAt(analysis, offset)).suggestions.map(({ label, insert }) =>
    label === insert ? label : `${label}: ${insert}`,
  );
}

test("a mistake is told at the word that is wrong, with its code", () => {
  const text = "entity user {}\nentity document {\n  relation owner @usr\n}\n";
  assert.deepEqual(runThrough(schemaProblems(text)), [
    {
      span: { start: text.indexOf("usr"), end: text.indexOf("usr") + 3 },
      severity: "error",
      code: "SCHEMA_COMPILE",
      message:
        "relation reference not found in entity references: type `usr` is not an entity (did you mean `user`?)",
      page: "language.md",
    },
  ]);
});

test("a mistake at the end of the text is told at its last character", () => {
  const [problem] = runThrough(schemaProblems("entity user {\n\n"));
  assert.equal(problem?.code, "SCHEMA_PARSE");
  assert.deepEqual(problem.span, { start: 12, end: 13 });
});

test("what lint says of a schema that compiles is told with the section of its code", () => {
  const text =
    "entity user {}\nentity folder {\n  relation parent @user\n permission view = parent }\nentity unused {}";
  const problems = runThrough(schemaProblems(text));
  assert.deepEqual(
    problems.map(({ span, severity, page }) => [text.slice(span.start, span.end), severity, page]),
    [["unused", "warning", "lint.md#unused-entity"]],
  );
});

test("a text that is too long is not looked at, and this is told", () => {
  const [problem, ...others] = runThrough(schemaProblems(" ".repeat(500_001)));
  assert.equal(problem?.code, "TEXT_TOO_LONG");
  assert.deepEqual(others, []);
  assert.deepEqual(runThrough(analyseSchema("entity a {}".padEnd(500_001))).outline.mentions, []);
});

test("hover tells what a name is, what is written above it, and what uses it", () => {
  assert.deepEqual(hover("org.admin"), {
    span: { start: model.indexOf("org.admin"), end: model.indexOf("org.admin") + 3 },
    cards: [
      {
        kind: "relation",
        title: "document#org",
        code: "relation org @organization",
        comment: "The organization\nthat pays.",
        uses: ["document#edit"],
      },
    ],
  });
  assert.deepEqual(hover("user @organization#member\n  attribute")?.cards, [
    {
      kind: "entity",
      title: "user",
      code: "entity user",
      comment: "People.",
      uses: ["organization#admin", "organization#member", "document#owner"],
    },
  ]);
});

test("hover over an argument tells of the attribute and of the parameter of the rule", () => {
  assert.deepEqual(
    hover("balance)")?.cards.map(({ title, uses }) => [title, uses]),
    [
      ["document#balance", ["document#view"]],
      ["is_rich(balance)", ["document#view", "is_rich"]],
    ],
  );
});

test("hover over a walk tells of each permission that it can ask", () => {
  const text =
    "entity user {} entity a { relation x @user } entity b { permission x = y relation y @user } entity c { relation r @a @b permission p = r.x }";
  const analysis = runThrough(analyseSchema(text));
  const found = runThrough(hoverAt(analysis, text.indexOf("r.x") + 3));
  assert.deepEqual(
    found?.cards.map(({ title }) => title),
    ["a#x", "b#x"],
  );
});

test("what has no meaning has no hover", () => {
  for (const part of ["boolean", "entity", "{}", "People", "data.balance"]) {
    assert.equal(hover(part), undefined, part);
  }
});

test("completion offers what can stand at the place, and nothing else", () => {
  const head = model.slice(0, model.indexOf("  permission edit"));
  const rule = model.slice(model.indexOf("rule"));
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["|", ["entity", "rule"]],
    ["entity a {} ru|", ["rule"]],
    ["entity |", []],
    ["entity a { |", ["relation", "attribute", "permission"]],
    ["entity a { rel|", ["relation"]],
    ["entity a { relation |", []],
    ["entity a { relation b |", ["@a"]],
    ["entity a { relation b @| }", ["a"]],
    ["entity a { relation b @a |", ["@a", "relation", "attribute", "permission"]],
    ["entity a { relation b @a#| permission c = b }", ["b"]],
    ["entity a { attribute b str|", ["string", "string[]"]],
    ["entity a { attribute b string |", ["relation", "attribute", "permission"]],
    [`${head}permission view = |`, ["org", "owner", "public"]],
    [`${head}permission view = owner and (ow|`, ["owner"]],
    [`${head}permission view = owner a|`, ["and", "relation", "attribute"]],
    [`${head}permission view = org.|`, ["admin", "member"]],
    [`${head}permission view = org.admin.|`, []],
    [`${head}permission view = is_| } ${rule}`, ["is_rich: is_rich(balance)"]],
    [`${head}permission view = is_rich(|) } ${rule}`, ["balance"]],
    [`${head}permission view = is_rich(balance, |) } ${rule}`, []],
    ["rule r(|", []],
    ["rule r(a bool|", ["boolean", "boolean[]"]],
    ["rule r(amount integer) { amo| }", ["amount"]],
    ["rule r(name string) { name.starts| }", ["startsWith"]],
    ["rule r(name string) { name == 'x' // na|", []],
    ["rule r(name string) { name == 'na| }", []],
    ["rule r(name string) { name in ['a', \"na|\"] }", []],
    ["rule r(name string) { name == 'x' && na| }", ["name"]],
    ["rule r(name string) { context.| }", ["data"]],
    ["rule r(name string) { !context.data.| }", []],
    ["rule r(name string) { context.data.name.ends| }", ["endsWith"]],
    ["// |", []],
    ["/* ent|", []],
    ["entity a {} // pemba-lint: allow unused|", ["unused-entity"]],
    ["entity a {} // pemba-lint: allow unused-entity -- un|", []],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual(labels(text), expected, text);
  }
});

test("completion of a walk offers what every type of the relation has", () => {
  const text =
    "entity user {} entity a { relation x @user relation z @user } entity b { relation x @user } entity c { relation r @a @b permission p = r.| }";
  assert.deepEqual(labels(text), ["x"]);
});
