import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import fc from "fast-check";

import { commentFaults, inspections } from "../../src/authoring/lint/inspections.ts";
import {
  type LintFinding,
  lintSchemaText,
  lintSchemaTextSteps,
} from "../../src/authoring/lint/lint.ts";
import { nearShare, surveyPlans } from "../../src/authoring/lint/survey.ts";
import { runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import { planOf, rootOf } from "../../src/plan/build.ts";
import { planMax } from "../../src/plan/limit.ts";
import { lower } from "../../src/plan/passes/1-lower.ts";
import { restrict } from "../../src/plan/passes/2-restrict.ts";
import { unfold } from "../../src/plan/passes/3-unfold.ts";
import { arrange } from "../../src/plan/passes/4-arrange.ts";
import { charactersMax, pushDown } from "../../src/sql/push-down.ts";
import { schemaShape, schemaSketch } from "../differential/generate-schema.ts";
import { nameOf } from "../language/numbered-name.ts";
import { caseCount, isLong, seed } from "../support/run-length.ts";

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

/** `type#permission` of those that some type of subjects asks by a gather, each planned by itself. */
function gatheredOneByOne(schema: Schema): ReadonlySet<string> {
  const entities = [...schema.entities.values()];
  const found = new Set<string>();
  for (const { name: entityType, permissions } of entities) {
    for (const permission of permissions.keys()) {
      for (const { name: subjectType } of entities) {
        const question = {
          entityType,
          permission,
          subjectType,
          subjectRelation: "",
          arguments: [],
        };
        const plan = planOf(schema, question, (field) => field);
        const isSearch = plan.kind === "search" && pushDown(plan).kind === "pushed_down";
        if (!isSearch) found.add(`${entityType}#${permission}`);
      }
    }
  }
  return found;
}

test("the permissions that lint finds to be gathered are those whose own plans are", (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  let count = 0;
  fc.assert(
    fc.property(schemaSketch, (sketch) => {
      const { text } = schemaShape(sketch, false);
      const gathered = lintSchemaText(text).filter(({ code }) => code === "gathered");
      const names = gathered.map(({ message }) => /^`([^`]+)`/.exec(message)?.[1] ?? "");
      count += names.length;
      assert.deepEqual(
        names.toSorted(),
        [...gatheredOneByOne(compileSchemaText(text))].toSorted(),
        text,
      );
    }),
    { seed, numRuns: caseCount({ short: 30, long: 100 }) },
  );
  assert.ok(count > 0, "some are gathered");
});

/** Entities one in another, each of which passes a permission on. */
function nestedEntities(count: number): string {
  const entities = Array.from({ length: count }, (_, index) => {
    const own = `relation owner @user relation viewer @user permission view = owner or viewer`;
    const parent = `relation parent @${nameOf(index - 1)}`;
    return `entity ${nameOf(index)} { ${index === 0 ? own : `${parent} ${own} or parent.view`} }`;
  });
  return `entity user {}\n${entities.join("\n")}`;
}

test("lint plans no question whose plan is a part of another one, or differs in a name alone", () => {
  const schema = compileSchemaText(
    `${nestedEntities(100)} entity robot {} entity page { relation reader @user relation bot @robot attribute open boolean permission view = reader or open }`,
  );
  const { questions } = runThrough(surveyPlans(schema, runThrough(lower(schema))));
  const planned = questions.filter(({ uses }) => uses.length > 0);
  assert.deepEqual(
    planned.map(({ node, subjectType }) => `${node.entityType} ${subjectType}`).toSorted(),
    // A robot and the parents have a page in the same way.
    [`${nameOf(99)} user`, `page ${nameOf(0)}`, "page user"],
  );
  assert.equal(questions.length, 100 + 101);
});

test("what is near a bound is found behind others that are nearer", () => {
  const near = lintSchemaText(nestedEntities(420)).filter(({ code }) => code === "near-bound");
  assert.deepEqual(
    near.flatMap(({ message }) => /uses (\d+) of 512/.exec(message)?.[1] ?? []),
    Array.from({ length: 11 }, (_, index) => String(410 + index)),
  );
});

/** Entities one in another whose permissions have guards: the more of them, the larger the search of each. */
function guardedEntities(count: number): string {
  const entities = Array.from({ length: count }, (_, index) => {
    const up = (name: string): string => (index === 0 ? "" : ` or parent.${name}`);
    return [
      `entity ${nameOf(index)} {`,
      ...(index === 0 ? [] : [`relation parent @${nameOf(index - 1)}`]),
      ..."abcdef".split("").map((letter) => `relation r_${letter} @user @group#member`),
      `permission deny = (r_a not r_b) or (r_c not r_d)`,
      `permission both = (r_e and r_f)${up("both")}`,
      `permission view = deny not both`,
      `permission edit = ((r_e or deny) not (r_a and r_f))${up("edit")}`,
      "}",
    ].join("\n");
  });
  return `entity user {}\nentity group { relation member @user @group#member }\n${entities.join("\n")}`;
}

/** The permissions that are gathered for users, and those that are near a bound, each planned by itself. */
function boundsOneByOne(text: string): {
  readonly gathered: readonly string[];
  readonly near: readonly string[];
} {
  const schema = compileSchemaText(text);
  const subject = { subjectType: "user", subjectRelation: "" };
  const network = runThrough(restrict(runThrough(lower(schema)), subject));
  const gathered: string[] = [];
  const near: string[] = [];
  for (const { name: entityType, permissions } of schema.entities.values()) {
    for (const permission of permissions.keys()) {
      const name = `${entityType}#${permission}`;
      const question = { ...subject, entityType, permission, arguments: [] };
      const root = rootOf(network.network, question, (field) => field);
      const unfolded = runThrough(unfold(network, root, { purpose: "check" }));
      const pushed =
        unfolded.kind === "automaton"
          ? pushDown(arrange({ question, network, root }, unfolded.automaton))
          : undefined;
      if (unfolded.kind !== "automaton" || pushed?.kind !== "pushed_down") {
        gathered.push(`\`${name}\` is gathered`);
        continue;
      }
      const { size } = unfolded;
      const parts = Object.keys(planMax) as (keyof typeof planMax)[];
      const uses = [
        ...parts.map((part) => ({ count: size[part], most: planMax[part] })),
        { count: pushed.characters, most: charactersMax },
      ];
      const [nearest] = uses.toSorted((a, b) => b.count / b.most - a.count / a.most);
      if (nearest !== undefined && nearest.count / nearest.most >= nearShare) {
        near.push(`\`${name}\` uses ${nearest.count} of ${nearest.most}`);
      }
    }
  }
  return { gathered: gathered.toSorted(), near: near.toSorted() };
}

test("lint finds the bounds of permissions that lead to each other as the plan of each says", () => {
  for (const text of [guardedEntities(isLong ? 60 : 30), nestedEntities(560)]) {
    const findings = lintSchemaText(text);
    const namesOf = (code: string): readonly string[] =>
      findings
        .filter((finding) => finding.code === code)
        .flatMap(
          ({ message }) => /^`[^`#]+#[^`]+` (?:is gathered|uses \d+ of \d+)/.exec(message) ?? [],
        )
        .toSorted();
    const expected = boundsOneByOne(text);
    assert.ok(expected.gathered.length > 20);
    assert.deepEqual(namesOf("gathered"), expected.gathered);
    assert.deepEqual(namesOf("near-bound"), expected.near);
  }
});

test("a permission that leads to one that is too large is not unfolded down to it again", () => {
  const countSteps = (text: string): number => {
    let steps = 0;
    for (const _ of lintSchemaTextSteps(text)) steps += 1;
    return steps;
  };
  const [some, more] = [60, 180].map((count) => countSteps(guardedEntities(count)));
  assert.ok(some !== undefined && more !== undefined && more < 4 * some, `${some}, then ${more}`);
});
