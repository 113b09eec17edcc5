import assert from "node:assert/strict";
import { test } from "node:test";

import { planJson } from "../../src/plan/print-plan.ts";
import { nameOf } from "../language/numbered-name.ts";
import { explained, planFor } from "./explained.ts";

function folder(body: string): string {
  return `
entity user {}
entity folder {
  relation parent @folder
  relation link @folder
  relation viewer @user
  relation owner @user
  ${body}
}`;
}

/** Why the plan is gathered; empty when it is a search. */
function causes(schema: string, question: string): readonly string[] {
  const plan = planFor(schema, question);
  return plan.kind === "search"
    ? []
    : plan.reasons.map(
        ({ entityType, permission, cause }) => `${entityType}#${permission}: ${cause}`,
      );
}

const several = "several operands of `and` lead back to it";
const negation = "a negation leads back to it";

test("several operands of `and` that lead back are gathered, and the plan says which name", () => {
  for (const body of [
    "permission view = owner or (parent.view and link.view)",
    "permission view = owner or (parent.view and (viewer or link.view))",
    "permission view = owner or (parent.other and link.view) permission other = parent.view",
  ]) {
    assert.deepEqual(causes(folder(body), "folder#view@user"), [`folder#view: ${several}`]);
  }
  assert.deepEqual(
    causes(
      folder("permission view = owner or inner permission inner = parent.view and link.view"),
      "folder#view@user",
    ),
    [`folder#inner: ${several}`],
  );
});

test("a negation through the recursion is gathered, directly or by way of another name", () => {
  for (const body of [
    "permission view = viewer not parent.view",
    "permission view = viewer not (owner or parent.view)",
    "permission view = viewer not other permission other = parent.view",
    "permission view = viewer not (owner not parent.view)",
  ]) {
    assert.ok(causes(folder(body), "folder#view@user").includes(`folder#view: ${negation}`), body);
  }
});

test("all causes are told, each once", () => {
  const body =
    "permission view = owner or (parent.view and link.view) or (viewer not parent.view) or (parent.view and link.view)";
  assert.deepEqual(causes(folder(body), "folder#view@user"), [
    `folder#view: ${several}`,
    `folder#view: ${negation}`,
  ]);
});

test("a name that only asks a gathered one is gathered with it", () => {
  const body = "permission view = viewer not parent.view permission list = owner or parent.view";
  assert.deepEqual(causes(folder(body), "folder#list@user"), [`folder#view: ${negation}`]);
});

test("recursion through one operand, and negation of what recurses by itself, are searched", () => {
  for (const body of [
    "permission view = owner or (parent.view and viewer)",
    "permission view = viewer not hidden permission hidden = owner or parent.hidden",
    "permission view = (viewer or parent.view) not hidden permission hidden = owner or link.hidden",
    "permission view = seen and listed permission seen = viewer or parent.seen permission listed = owner or link.listed",
  ]) {
    assert.deepEqual(causes(folder(body), "folder#view@user"), []);
  }
});

test("a gathered plan shows its equations", () => {
  const lines = explained(folder("permission view = viewer not parent.view"), "folder#view@user");
  assert.deepEqual(lines.slice(0, 2), [
    "folder#view@user: gathered, then solved as a fixpoint",
    `because: folder#view: ${negation}`,
  ]);
  assert.equal(lines.filter((line) => line.startsWith("node ")).length, 3);
  const json = JSON.stringify(
    planJson(planFor(folder("permission view = viewer not parent.view"), "folder#view@user")),
  );
  assert.match(json, /"kind":"gather".*"reasons":\["folder#view: a negation leads back to it"\]/);
});

/** A permission over that many relations, with the operator before each but the first. */
function wide(
  count: number,
  operator: (index: number) => string,
  types = "@user",
  operand: (name: string) => string = (name) => name,
): string {
  const names = Array.from({ length: count }, (_, index) => `r_${nameOf(index)}`);
  const expression = names
    .map((name, index) => `${index === 0 ? "" : ` ${operator(index)} `}${operand(name)}`)
    .join("");
  return `
entity user {}
entity group { relation member @user @group#member }
entity doc {
  ${names.map((name) => `relation ${name} ${types}`).join("\n  ")}
  permission view = ${expression}
}`;
}

test("ten thousand relations are one test and one hop", () => {
  const plan = planFor(
    wide(10_000, () => "or", "@user @group#member"),
    "doc#view@user",
  );
  assert.ok(plan.kind === "search");
  assert.equal(plan.states.length, 2);
  assert.deepEqual([plan.states[0]?.tests.length, plan.states[0]?.hops.length], [1, 1]);
});

test("walks to one name are one hop, however many relations they go by", () => {
  const schema = wide(
    600,
    () => "or",
    "@group",
    (name) => `${name}.member`,
  );
  const plan = planFor(schema, "doc#view@user");
  assert.ok(plan.kind === "search");
  assert.deepEqual(
    plan.states.map(({ hops }) => hops.length),
    [1, 1],
  );
});

test("more branches than a statement should have are gathered", () => {
  const operators = {
    and: wide(600, () => "and"),
    not: wide(600, () => "not"),
    "and, or": wide(600, (index) => (index % 2 === 0 ? "and" : "or")),
  };
  for (const [name, schema] of Object.entries(operators)) {
    const { length } = causes(schema, "doc#view@user").filter((cause) =>
      cause.endsWith("it has too many alternatives"),
    );
    assert.equal(length, 1, name);
  }
});

test("expressions of ten thousand operands have a plan with all operators", () => {
  for (const operators of [["and"], ["or", "and", "not"]]) {
    const schema = wide(10_000, (index) => operators[index % operators.length] ?? "or");
    assert.deepEqual(causes(schema, "doc#view@user"), ["doc#view: it has too many alternatives"]);
  }
});
