import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { expandTree } from "../../src/memory/expand.ts";
import type { Facts } from "../../src/memory/facts.ts";

const schema = compileSchemaText(`
entity user {}
entity group {
  relation member @user
  relation parent @group
  permission above = parent.above or member
}`);

/** A group of as many members and parents as anybody reads. */
const endless: Facts = {
  hasTuple: () => false,
  *subjectIds() {
    for (let id = 0; ; id += 1) yield String(id);
  },
  attribute: () => undefined,
};

for (const name of ["member", "above"]) {
  test(`the subjects of \`${name}\` are read no further than a tree can hold`, () => {
    assert.throws(
      () => expandTree(schema, endless, { type: "group", id: "all" }, name),
      (error) => error instanceof PembaError && error.code === "GATHER_LIMIT_EXCEEDED",
    );
  });
}

test("what many ways lead to is read once", () => {
  const read: string[] = [];
  const layer = new Map([
    ["top", ["left", "right"]],
    ["left", ["end"]],
    ["right", ["end"]],
  ]);
  const diamond: Facts = {
    ...endless,
    subjectIds: ({ id }, [relation]) => {
      read.push(`${id} ${relation}`);
      return relation === "parent" ? (layer.get(id) ?? []) : [`member-of-${id}`];
    },
  };
  expandTree(schema, diamond, { type: "group", id: "top" }, "above");
  assert.deepEqual(
    read.filter((one) => one.startsWith("end ")),
    ["end parent", "end member"],
  );
});
