import assert from "node:assert/strict";
import { test } from "node:test";

import { type Context, emptyContext } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { factsOf, tupleOf } from "./facts-text.ts";
import { expectation, type Outcome } from "./oracle.ts";

/** These cases were worked out by hand: the oracle is what everything else is measured against. */
const folders = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  attribute open boolean
  permission view = (viewer or parent.view) not banned
  permission see = viewer or parent.see
  permission odd = viewer not parent.odd
  permission both = see and parent.see
}
entity doc {
  relation folder @folder
  attribute level integer
  permission high = above(level)
  permission safe = folder.see or above(level)
  permission never = folder.see and above(level)
}
rule above(level integer) { level > context.data.limit }`;

function ask(
  question: string,
  tuples: readonly string[],
  options: { readonly depth?: number; readonly context?: Context } = {},
): readonly Outcome[] {
  const [entity = "", permission = "", subject = ""] = question.split(" ");
  const [type = "", id = ""] = entity.split(":");
  const { outcomes } = expectation(
    {
      schema: compileSchemaText(folders),
      facts: factsOf(tuples),
      context: options.context ?? emptyContext,
      entity: { type, id },
      permission,
      subject: tupleOf(`x:x#x@${subject}`).subject,
    },
    options.depth ?? 100,
  );
  return [...outcomes].toSorted();
}

test("the oracle finds a member through nested groups and a folder above", () => {
  const tuples = [
    "folder:a#parent@folder:b",
    "folder:b#viewer@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@user:u",
  ];
  assert.deepEqual(ask("folder:a view user:u", tuples), ["allowed"]);
  assert.deepEqual(ask("folder:a view user:v", tuples), ["denied"]);
  assert.deepEqual(ask("folder:a view group:h#member", tuples), ["allowed"]);
  assert.deepEqual(ask("folder:a view group:h", tuples), ["denied"]);
});

test("the oracle ends on cycles of groups and folders", () => {
  const tuples = [
    "folder:a#parent@folder:b",
    "folder:b#parent@folder:a",
    "folder:b#viewer@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@group:g#member",
  ];
  assert.deepEqual(ask("folder:a view user:u", tuples, { depth: 1 }), ["denied"]);
});

test("the oracle lets a ban below stop what is granted above", () => {
  const tuples = ["folder:a#parent@folder:b", "folder:b#viewer@user:u", "folder:a#banned@user:u"];
  assert.deepEqual(ask("folder:a view user:u", tuples), ["denied"]);
  assert.deepEqual(ask("folder:b view user:u", tuples), ["allowed"]);
});

test("the oracle takes a subject equal to the asked node as allowed", () => {
  assert.deepEqual(ask("folder:a view folder:a#view", []), ["allowed"]);
  assert.deepEqual(ask("folder:a view folder:a#see", []), ["denied"]);
  assert.deepEqual(ask("folder:a view folder:b#view", ["folder:a#parent@folder:b"]), ["allowed"]);
});

test("the oracle counts the hops of the shortest path", () => {
  const tuples = [
    "folder:a#parent@folder:b",
    "folder:b#parent@folder:c",
    "folder:c#viewer@group:g#member",
    "group:g#member@user:u",
  ];
  assert.deepEqual(ask("folder:a see user:u", tuples, { depth: 3 }), ["allowed"]);
  assert.deepEqual(ask("folder:a see user:u", tuples, { depth: 2 }), ["DEPTH_NOT_ENOUGH"]);
  assert.deepEqual(ask("folder:a see user:v", tuples, { depth: 1 }), ["denied"]);
  assert.deepEqual(ask("folder:a both user:u", tuples, { depth: 3 }), ["allowed"]);
});

test("the oracle needs no depth to know that no subject is banned", () => {
  const tuples = ["folder:a#parent@folder:b", "folder:a#viewer@user:u", "folder:b#parent@folder:c"];
  assert.deepEqual(ask("folder:a odd user:u", tuples, { depth: 1 }), ["allowed"]);
});

test("the oracle alternates where a negation recurses without a cycle", () => {
  const tuples = [
    "folder:a#parent@folder:b",
    "folder:a#viewer@user:u",
    "folder:b#parent@folder:c",
    "folder:b#viewer@user:u",
    "folder:c#viewer@user:u",
  ];
  assert.deepEqual(ask("folder:c odd user:u", tuples), ["allowed"]);
  assert.deepEqual(ask("folder:b odd user:u", tuples), ["denied"]);
  assert.deepEqual(ask("folder:a odd user:u", tuples), ["allowed"]);
});

test("the oracle calls an answer undefined only when it hangs on a cycle through `not`", () => {
  const cycle = ["folder:a#parent@folder:b", "folder:b#parent@folder:a"];
  const both = [...cycle, "folder:a#viewer@user:u", "folder:b#viewer@user:u"];
  assert.deepEqual(ask("folder:a odd user:u", both), ["UNDEFINED_RESULT"]);
  assert.deepEqual(ask("folder:a odd user:u", [...cycle, "folder:a#viewer@user:u"]), ["allowed"]);
  assert.deepEqual(ask("folder:a odd user:v", both), ["denied"]);
});

test("the oracle reports a fault only when the answer depends on it", () => {
  const grant = ["doc:d#folder@folder:a", "folder:a#viewer@user:u"];
  assert.deepEqual(ask("doc:d high user:u", []), ["RULE_EVALUATION"]);
  assert.deepEqual(ask("doc:d safe user:u", grant), ["allowed"]);
  assert.deepEqual(ask("doc:d safe user:v", grant), ["RULE_EVALUATION"]);
  assert.deepEqual(ask("doc:d never user:u", grant), ["RULE_EVALUATION"]);
  assert.deepEqual(ask("doc:d never user:v", grant), ["denied"]);
});

test("the oracle takes the context over the defaults", () => {
  const context: Context = {
    tuples: [],
    attributes: [
      {
        entity: { type: "doc", id: "d" },
        attribute: "level",
        value: { type: "integer", data: 3 },
      },
    ],
    data: { limit: 2 },
  };
  assert.deepEqual(ask("doc:d high user:u", [], { context }), ["allowed"]);
  assert.deepEqual(ask("doc:e high user:u", [], { context }), ["denied"]);
});

test("the oracle refuses names that the schema does not have", () => {
  assert.deepEqual(ask("folder:a nothing user:u", []), ["refused"]);
  assert.deepEqual(ask("nothing:a view user:u", []), ["refused"]);
});
