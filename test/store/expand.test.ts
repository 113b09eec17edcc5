import assert from "node:assert/strict";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import { runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Facts } from "../../src/memory/facts.ts";
import { lower } from "../../src/plan/passes/1-lower.ts";
import { expand } from "../../src/store/expand.ts";

const schema = compileSchemaText(`
entity user {}
entity group {
  relation member @user
  relation parent @group
  permission above = parent.above or member
}`);

const { byName } = runThrough(lower(schema));

function expandGroup(facts: Facts, id: string, name: string): void {
  const node = must(byName.get("group")?.get(name), "the group has the name");
  runThrough(expand(facts, { type: "group", id }, node));
}

/** A group of as many members and parents as anybody reads. */
const endless: Facts = {
  hasTuple: () => false,
  *subjectIds() {
    for (let id = 0; ; id += 1) yield String(id);
  },
  subjects: () => [],
  attribute: () => undefined,
};

for (const name of ["member", "above"]) {
  test(`the subjects of \`${name}\` are read no further than a tree can hold`, () => {
    assert.throws(
      () => expandGroup(endless, "all", name),
      (error) => error instanceof PembaError && error.code === "GATHER_LIMIT_EXCEEDED",
    );
  });
}

test("what many paths lead to is read once", () => {
  const read: string[] = [];
  const parents = new Map([
    ["top", ["left", "right"]],
    ["left", ["end"]],
    ["right", ["end"]],
  ]);
  const diamond: Facts = {
    ...endless,
    subjectIds: ({ id }, [relation]) => {
      read.push(`${id} ${relation}`);
      return relation === "parent" ? (parents.get(id) ?? []) : [`member-of-${id}`];
    },
  };
  expandGroup(diamond, "top", "above");
  assert.deepEqual(
    read.filter((one) => one.startsWith("end ")),
    ["end parent", "end member"],
  );
});

test("very many subjects are read and sorted in steps", () => {
  const count = 50_000;
  const crowd: Facts = {
    ...endless,
    *subjectIds() {
      for (let id = count; id > 0; id -= 1) yield String(id).padStart(128, "x");
    },
  };
  const node = must(byName.get("group")?.get("member"), "the group has the name");
  let pauses = 0;
  for (
    const steps = expand(crowd, { type: "group", id: "all" }, node);
    steps.next().done !== true;
  ) {
    pauses += 1;
  }
  // Each is read once, and compared with others as often as a sort needs.
  assert.ok(pauses > (5 * count) / 256, `${pauses} pauses`);
});
