import assert from "node:assert/strict";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import type { Condition } from "../../src/condition/condition.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Expression, Schema } from "../../src/language/schema.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";

/** The compiled permission `view` of the entity `doc`. */
function viewOf(members: string, rest = ""): Expression | undefined {
  const schema = compileSchemaText(`entity user {} entity doc { ${members} } ${rest}`);
  return schema.entities.get("doc")?.permissions.get("view")?.expression;
}

test("names are resolved to what they stand for", () => {
  const members = `
    relation owner @user
    relation parent @folder
    attribute public boolean
    attribute level integer
    permission edit = owner
    permission view = ((owner or edit) and public) not (parent.view or high(level))`;
  const rest = `entity folder { relation view @user } rule high(level integer) { level > 3 }`;
  assert.deepEqual(viewOf(members, rest), {
    kind: "not",
    left: {
      kind: "and",
      left: {
        kind: "or",
        left: { kind: "relation", name: "owner" },
        right: { kind: "permission", name: "edit" },
      },
      right: { kind: "attribute", name: "public" },
    },
    right: {
      kind: "or",
      left: { kind: "walk", relation: "parent", name: "view" },
      right: { kind: "call", rule: "high", arguments: ["level"] },
    },
  });
});

test("definitions keep the order of the source", () => {
  const schema = compileSchemaText(`
    rule second(b string[], a double) { a > 1.0 && b == ["x"] }
    entity z { attribute b string attribute a double[] relation y @z @a#x relation x @z }
    entity a { relation x @z }
    rule first() { context.data.on == true }`);
  assert.deepEqual([...schema.entities.keys()], ["z", "a"]);
  assert.deepEqual([...schema.rules.keys()], ["second", "first"]);
  const z = schema.entities.get("z");
  assert.deepEqual(
    [...(z?.relations.values() ?? [])],
    [
      {
        name: "y",
        types: [
          { type: "z", relation: "" },
          { type: "a", relation: "x" },
        ],
      },
      { name: "x", types: [{ type: "z", relation: "" }] },
    ],
  );
  assert.deepEqual(
    [...(z?.attributes ?? [])],
    [
      ["b", "string"],
      ["a", "double[]"],
    ],
  );
  assert.deepEqual(
    [...(schema.rules.get("second")?.parameters ?? [])],
    [
      ["b", "string[]"],
      ["a", "double"],
    ],
  );
});

test("a type that is named twice in a relation counts once", () => {
  const schema = compileSchemaText("entity user { relation r @user @user#r @user @user#r }");
  assert.deepEqual(schema.entities.get("user")?.relations.get("r")?.types, [
    { type: "user", relation: "" },
    { type: "user", relation: "r" },
  ]);
});

test("a permission may refer to itself, to later ones and in a circle", () => {
  assert.deepEqual(viewOf("permission view = view"), { kind: "permission", name: "view" });
  assert.deepEqual(viewOf("permission view = edit permission edit = view"), {
    kind: "permission",
    name: "edit",
  });
});

test("a schema needs no entity named user", () => {
  assert.equal(compileSchemaText("entity account { relation friend @account }").entities.size, 1);
});

test("an entity may share its name with one of its relations", () => {
  assert.ok(compileSchemaText("entity org { relation org @org permission view = org.view }"));
});

test("a walk over a userset needs its name on the entity or behind the userset", () => {
  const groups = "entity group { relation member @user @group#member permission open = member }";
  const behind =
    "entity team { relation member @org#admin } entity org { relation admin @user permission open = admin }";
  const walk = { kind: "walk", relation: "r", name: "open" };
  assert.deepEqual(viewOf("relation r @group#member permission view = r.open", groups), walk);
  assert.deepEqual(viewOf("relation r @team#member permission view = r.open", behind), walk);
});

test("the expression of a rule is what was written between its braces", () => {
  const schema = compileSchemaText(
    `entity user {} rule r(s string) {\n  {"a": "}"}.a == s // }\n}`,
  );
  assert.equal(schema.rules.get("r")?.condition.text, `{"a": "}"}.a == s // }`);
});

test("a line comment in a rule ends with its line, also at a carriage return alone", () => {
  for (const lineBreak of ["\n", "\r\n", "\r"]) {
    const body = `n < 3 // at most }${lineBreak}&& n > 1 // "${lineBreak}`;
    const schema = compileSchemaText(`entity user {} rule r(n integer) { ${body} }`);
    const verdict = evaluateCondition(conditionOf(schema), {
      parameters: new Map([["n", { type: "integer", data: 1 }]]),
      data: {},
    });
    assert.deepEqual(verdict, { kind: "value", value: false }, JSON.stringify(body));
  }
});

test("block comments in a rule are passed over, and are part of its expression", () => {
  const body = `/* at most } */ n < 3 /* keep */ && "/* n */" != 'x'`;
  const schema = compileSchemaText(`entity user {} rule r(n integer) { ${body} }`);
  assert.equal(schema.rules.get("r")?.condition.text, body);
  const verdict = evaluateCondition(conditionOf(schema), {
    parameters: new Map([["n", { type: "integer", data: 2 }]]),
    data: {},
  });
  assert.deepEqual(verdict, { kind: "value", value: true });
});

function conditionOf({ rules }: Schema): Condition {
  return must(rules.get("r"), "the rule is declared").condition;
}
