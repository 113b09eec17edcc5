import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { commentFaults, inspections } from "../../src/authoring/lint/inspections.ts";
import { type LintFinding, lintSchemaText } from "../../src/authoring/lint/lint.ts";
import { nameOf } from "../language/numbered-name.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/lint.md"), "utf8");

function lines(findings: readonly LintFinding[]): readonly string[] {
  return findings.map(
    ({ position, severity, message, code }) =>
      `${position.line}:${position.column}: ${severity}: ${message} (${code})`,
  );
}

/** What lint says of the members of `document`, as `line:column code`. Line 1 has no member. */
function codesOf(members: string, before = ""): readonly string[] {
  const text = `entity user {} ${before} entity document { relation owner @user relation parent @document
${members}
}`;
  return lintSchemaText(text)
    .filter(({ position }) => position.line > 1)
    .map(({ position, code }) => `${position.line}:${position.column} ${code}`);
}

test("docs/lint.md has a section for every code, with the severity that it has", () => {
  const severities = [
    ...inspections.map(({ code, severity }) => [code, severity] as const),
    ...Object.entries(commentFaults),
  ];
  const sections = [...page.matchAll(/^## (?<code>[a-z-]+)\n\nAn? (?<severity>\w+)\./gm)];
  assert.deepEqual(
    sections.map(({ groups }) => [groups?.["code"], groups?.["severity"]]),
    severities,
  );
});

test("the examples of docs/lint.md have the findings that the page shows", () => {
  const examples = [
    ...page.matchAll(/^```perm\n(?<schema>[^]*?)^```\n(?:\n```finding\n(?<found>[^]*?)^```$)?/gm),
  ];
  assert.ok(examples.length > 10);
  for (const { groups } of examples) {
    const found = (groups?.["found"] ?? "").trimEnd();
    assert.equal(lines(lintSchemaText(groups?.["schema"] ?? "")).join("\n"), found);
  }
});

test("a finding ends behind the word that it begins with", () => {
  const [finding] = lintSchemaText("entity user {} entity robot {} entity a { relation b @user }");
  assert.deepEqual([finding?.position.column, finding?.endColumn], [23, 28]);
});

test("a name that one kind of subjects can have is possible", () => {
  const team = "entity team { relation member @team#member @user }";
  const members = "relation viewer @team#member permission view = owner and viewer";
  assert.deepEqual(codesOf(members, team), []);
  assert.deepEqual(codesOf("permission view = view"), ["2:12 impossible-name"]);
  assert.deepEqual(codesOf("permission view = edit permission edit = view or parent.view"), [
    "2:12 impossible-name",
    "2:35 impossible-name",
  ]);
});

test("a schema without subjects in relations is looked at, too", () => {
  const text = "entity flag { attribute on boolean permission ask = on permission never = never }";
  assert.deepEqual(
    lintSchemaText(text).map(({ code }) => code),
    ["impossible-name"],
  );
});

test("what a reached relation holds by a userset is reached, too", () => {
  const team =
    "entity team { relation lead @user relation member @user @team#lead relation odd @user permission see = see_all relation see_all @user }";
  const found = lintSchemaText(
    `entity user {} ${team} entity document { relation viewer @team#member permission view = viewer }`,
  );
  assert.deepEqual(
    found.map(({ code, message }) => [code, /`(.*)`/.exec(message)?.[1]]),
    [["unreachable-name", "team#odd"]],
  );
});

test("relations and boolean attributes of an entity without permissions count as asked", () => {
  const text =
    "entity user {} entity role { relation assignee @user attribute on boolean attribute size integer }";
  assert.deepEqual(
    lintSchemaText(text).map(({ message }) => message),
    ["no permission leads to attribute `role#size`"],
  );
});

test("a walk to a permission that needs a relation beside its rule is not warned of", () => {
  const rule = "rule low(size integer) { size < 3 }";
  const folder = (expression: string): string =>
    `${rule} entity folder { relation member @user attribute size integer attribute on boolean permission can = ${expression} }`;
  const members = "relation folder @folder permission view = owner and folder.can";
  const codes = (expression: string): readonly string[] =>
    codesOf(members, folder(expression)).filter((line) => line.endsWith("rule-behind-walk"));
  assert.deepEqual(codes("low(size)"), ["2:53 rule-behind-walk"]);
  assert.deepEqual(codes("low(size) and on"), ["2:53 rule-behind-walk"]);
  assert.deepEqual(codes("low(size) and member"), []);
  assert.deepEqual(codes("on"), []);
});

test("a comment allows the member that begins in the next line, to its last line", () => {
  const mixed = `permission view = owner or
    owner and
    owner`;
  assert.deepEqual(codesOf(mixed), ["3:11 mixed-operators"]);
  assert.deepEqual(codesOf(`// pemba-lint: allow mixed-operators\n\n// more\n${mixed}`), []);
  assert.deepEqual(codesOf(`// pemba-lint: allow mixed-operators, gathered -- x\n${mixed}`), [
    "2:39 needless-allow",
  ]);
  assert.deepEqual(
    codesOf(`permission view = owner or\n// pemba-lint: allow mixed-operators\nowner and owner`),
    [],
  );
});

test("a comment behind code allows its own line alone", () => {
  const members = `permission a = owner or owner and owner // pemba-lint: allow mixed-operators
permission b = owner or owner and owner`;
  assert.deepEqual(codesOf(members), ["3:31 mixed-operators"]);
});

test("a comment that lint does not understand is reported", () => {
  assert.deepEqual(codesOf("// pemba-lint: ignore case-only\npermission view = owner"), [
    "2:1 unknown-code",
  ]);
  assert.deepEqual(codesOf("// pemba-lint: allow\npermission view = owner"), ["2:1 unknown-code"]);
});

test("a permission that is gathered for some subjects says for which", () => {
  const [note] = lintSchemaText(`
entity user {}
entity robot {}
entity document {
  relation parent @document
  relation viewer @user
  relation runner @robot
  permission view = runner or (viewer not (viewer and parent.view))
}`).filter(({ code }) => code === "gathered");
  assert.match(
    note?.message ?? "",
    /^`document#view` is gathered for subjects `user`, not searched: `document#view`: a negation leads back to it$/,
  );
});

test("from 80 % of a bound on, a plan is near it", () => {
  const schema = (guards: number): string => {
    const names = Array.from({ length: guards + 1 }, (_, place) => nameOf(place));
    const relations = names.map((name) => `relation ${name} @user`).join("\n");
    return `entity user {} entity doc { ${relations} permission view = ${names.join(" and ")} }`;
  };
  const near = (guards: number): readonly string[] =>
    lintSchemaText(schema(guards)).map(({ code, message }) => `${code} ${message}`);
  assert.deepEqual(near(25), []);
  assert.deepEqual(near(26), [
    "near-bound `doc#view` uses 26 of 32 guards of one branch; past that, it is gathered",
  ]);
  assert.match(near(33).join("\n"), /^gathered .* it has too many alternatives$/);
});

test("parentheses inside each other come near their bound", () => {
  const nested = (depth: number): string =>
    `permission view = ${"(".repeat(depth)}owner${")".repeat(depth)}`;
  assert.deepEqual(codesOf(nested(799)), []);
  assert.deepEqual(codesOf(nested(800)), ["2:12 near-bound"]);
});

test("a schema near the bound of its size is linted, and says so", () => {
  const members = Array.from({ length: 20_000 }, (_, place) => `relation ${nameOf(place)} @user`);
  const text = `entity user {} entity doc { ${members.join("\n")} }`;
  assert.deepEqual(
    lintSchemaText(text).map(({ code, position }) => [code, position.line]),
    [["near-bound", 1]],
  );
});

test("a comment above a member allows its lines, and a comment within it allows one of them", () => {
  const members = `  // pemba-lint: allow mixed-operators
  permission a = owner
    or parent and owner
    or parent and owner
  permission b = owner
    // pemba-lint: allow mixed-operators
    or parent and owner
    or parent and owner`;
  assert.deepEqual(codesOf(members), ["9:5 mixed-operators", "9:15 mixed-operators"]);
});

test("many findings under many comments are sorted out within seconds of processor time", () => {
  const together = "// pemba-lint: allow gathered\n".repeat(20_000);
  const apart = Array.from(
    { length: 20_000 },
    (_, index) => `// pemba-lint: allow unused-entity, gathered\nentity ${nameOf(index)} {}`,
  ).join("\n");
  const start = process.cpuUsage();
  const codes = new Set(lintSchemaText(together + apart).map(({ code }) => code));
  assert.ok(process.cpuUsage(start).user < 3_000_000);
  assert.deepEqual([...codes].toSorted(), ["needless-allow"]);
});
