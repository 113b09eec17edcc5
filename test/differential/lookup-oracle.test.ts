import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyContext } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { factsOf, tupleOf } from "./facts-text.ts";
import { type Lookup, lookupExpectation, type LookupExpectation } from "./lookup-oracle.ts";
import type { Outcome } from "./oracle.ts";
import { pageFault } from "./page-verdict.ts";
import type { Scope } from "./scope-reach.ts";

/** Worked out by hand: the oracle is what the lookups of both engines are measured against. */
const schema = compileSchemaText(`
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  attribute open boolean
  attribute level integer
  permission view = (viewer or parent.view) not banned
  permission both = viewer and parent.viewer
  permission low = below(level)
  permission free = viewer or open or level_asked(level)
}
rule below(level integer) { level < 1 }
rule level_asked(level integer) { level > context.data.limit }`);

const data = [
  "folder:a#parent@folder:b",
  "folder:b#parent@folder:c",
  "folder:c#viewer@group:g#member",
  "group:g#member@user:u",
  "folder:b#banned@user:v",
  "folder:c#viewer@user:v",
];

function entities(
  permission: string,
  subject: string,
  facts: readonly string[],
  options: {
    readonly scope?: Scope;
    readonly depth?: number;
    readonly with?: readonly string[];
  } = {},
): readonly string[] {
  const lookup: Lookup = {
    kind: "entities",
    entityType: "folder",
    permission,
    subject: tupleOf(`x:x#x@${subject}`).subject,
    scope: options.scope ?? {},
  };
  return answersOf(lookup, facts, options);
}

function subjects(
  entity: string,
  permission: string,
  reference: string,
  facts: readonly string[],
): readonly string[] {
  const [type = "", id = ""] = entity.split(":");
  const [subjectType = "", subjectRelation = ""] = reference.split("#");
  const lookup: Lookup = {
    kind: "subjects",
    entity: { type, id },
    permission,
    arguments: [],
    subjectType,
    subjectRelation,
  };
  return answersOf(lookup, facts, {});
}

/** `id outcome ...` for each id that is known. */
function answersOf(
  lookup: Lookup,
  facts: readonly string[],
  options: { readonly depth?: number; readonly with?: readonly string[] },
): readonly string[] {
  const expected = lookupExpectation(lookup, {
    schema,
    facts: factsOf(facts),
    context: { ...emptyContext, ...factsOf(options.with ?? []) },
    depth: options.depth ?? 100,
  });
  if (expected.kind === "refused") return [...expected.outcomes];
  return [...expected.outcomes].map(([id, outcomes]) => [id, ...outcomes].join(" "));
}

test("the oracle finds every entity that a check allows, and knows those that none does", () => {
  assert.deepEqual(entities("view", "user:u", data), ["a allowed", "b allowed", "c allowed"]);
  assert.deepEqual(entities("view", "user:v", data), ["a denied", "b denied", "c allowed"]);
});

test("the oracle finds the subjects of a type, and usersets of a relation by their ids", () => {
  assert.deepEqual(subjects("folder:a", "view", "user", data), ["u allowed", "v denied"]);
  assert.deepEqual(subjects("folder:a", "view", "group#member", data), ["g allowed"]);
  assert.deepEqual(subjects("folder:a", "view", "group", data), ["g denied"]);
});

test("the oracle knows an id that stands only in an attribute, in the context or in the question", () => {
  const facts = ["folder:x$level|integer:3"];
  assert.deepEqual(entities("low", "user:u", facts), ["x denied"]);
  assert.deepEqual(entities("low", "user:u", facts, { with: ["folder:y#viewer@user:w"] }), [
    "x denied",
    "y allowed",
  ]);
  assert.deepEqual(entities("low", "folder:z", facts), ["x denied", "z allowed"]);
  assert.deepEqual(subjects("folder:f", "low", "folder", []), ["f allowed"]);
});

test("the oracle orders ids by their bytes", () => {
  const facts = ["10", "9", "a", "B", "_"].map((id) => `folder:${id}#viewer@user:u`);
  const ids = entities("viewer", "user:u", facts).map((line) => line.split(" ")[0]);
  assert.deepEqual(ids, ["10", "9", "B", "_", "a"]);
});

test("the oracle lets nothing in through entities outside of the scope", () => {
  const within = (scope: Scope): readonly string[] => entities("view", "user:u", data, { scope });
  assert.deepEqual(within({ folder: ["a", "c"] }), ["a denied", "c allowed"]);
  assert.deepEqual(within({ folder: ["a", "b", "c"], group: ["h"] }), [
    "a denied",
    "b denied",
    "c denied",
  ]);
  assert.deepEqual(within({ folder: ["unheard"] }), []);
});

test("the oracle expects no more of a scope than that it takes away", () => {
  const facts = ["folder:a#viewer@user:u", "folder:a#parent@folder:b", "folder:b#viewer@user:u"];
  const scope = { folder: ["a"] };
  assert.deepEqual(entities("both", "user:u", facts, { scope }), ["a allowed denied"]);
  assert.deepEqual(entities("view", "user:v", data, { scope: { folder: ["b"] } }), ["b denied"]);
});

test("the oracle says which ids fail", () => {
  const facts = ["folder:a$level|integer:3", "folder:b#viewer@user:u"];
  assert.deepEqual(entities("free", "user:u", facts), ["a RULE_EVALUATION", "b allowed"]);
  assert.deepEqual(entities("view", "user:u", data, { depth: 2 }), [
    "a DEPTH_NOT_ENOUGH",
    "b allowed",
    "c allowed",
  ]);
});

test("the oracle refuses unknown names, and a rule that needs attributes of many entities", () => {
  assert.deepEqual(entities("nothing", "user:u", data), ["refused"]);
  assert.deepEqual(entities("view", "stranger:u", data), ["refused"]);
  assert.deepEqual(entities("below", "user:u", data), ["MISSING_ARGUMENT"]);
});

const expected: LookupExpectation = {
  kind: "ids",
  outcomes: new Map<string, ReadonlySet<Outcome>>([
    ["a", new Set(["allowed"])],
    ["b", new Set(["denied"])],
    ["c", new Set(["allowed"])],
    ["d", new Set(["RULE_EVALUATION"])],
    ["e", new Set(["allowed"])],
  ]),
};

function verdict(
  items: readonly string[],
  next: string | undefined,
  asked: { readonly after?: string; readonly limit?: number } = {},
): string | undefined {
  return pageFault(
    expected,
    { after: asked.after, limit: asked.limit ?? 2 },
    { kind: "page", items, next },
  );
}

test("a page is right when it is full, or says that more follows", () => {
  assert.equal(verdict(["a", "c"], "c"), undefined);
  assert.equal(verdict(["a"], "a"), undefined);
  assert.equal(verdict(["a"], "b"), undefined);
  assert.equal(verdict(["e"], undefined, { after: "d" }), undefined);
});

test("a page is wrong when it leaves out, repeats, invents, passes over a failure or ends early", () => {
  assert.match(verdict(["c"], "c") ?? "", /`a` should be allowed/);
  assert.match(verdict(["a", "b"], "b") ?? "", /`b` should be denied/);
  assert.match(verdict(["c", "a"], "c") ?? "", /ascending/);
  assert.match(verdict(["a", "a"], "a") ?? "", /ascending/);
  assert.match(verdict(["a", "x"], undefined) ?? "", /`x` is not known/);
  assert.match(verdict(["a"], undefined, { after: "a" }) ?? "", /`a` is not known/);
  assert.match(verdict(["a", "c", "e"], "e", { limit: 3 }) ?? "", /`d` should be RULE_EVALUATION/);
  assert.match(verdict(["a", "c"], undefined) ?? "", /`d` should be/);
  assert.match(verdict(["a", "c", "e"], undefined) ?? "", /3 items of at most 2/);
  assert.match(verdict(["e"], "e", { after: "d" }) ?? "", /nothing follows/);
  assert.match(verdict([], "a") ?? "", /without items/);
});

test("a page may fail by an id that it comes to, and by no other", () => {
  const failure = { kind: "error", outcome: "RULE_EVALUATION" } as const;
  assert.equal(pageFault(expected, { after: undefined, limit: 2 }, failure), undefined);
  assert.match(pageFault(expected, { after: undefined, limit: 1 }, failure) ?? "", /no id/);
  assert.match(pageFault(expected, { after: "d", limit: 5 }, failure) ?? "", /no id/);
});
