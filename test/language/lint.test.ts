import assert from "node:assert/strict";
import { test } from "node:test";

import { lintSchema } from "../../src/language/lint.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { printSchema } from "../../src/language/print.ts";
import { nameOf } from "./numbered-name.ts";

/** Where the permissions of an entity `doc` are warned of, each as `line:column` and a first word. */
function warningsOf(permissions: string): readonly string[] {
  const tree = parseSchema(`entity user {}
entity folder { relation parent @folder relation owner @user permission view = owner or parent.view }
entity doc { relation parent @doc @folder relation a @user relation b @user relation c @user
${permissions}
}`);
  return lintSchema(tree).map(
    ({ position, message }) => `${position.line}:${position.column} ${message.split(" ")[0]}`,
  );
}

test("different operators in a row are warned of, each where it stands", () => {
  assert.deepEqual(warningsOf("permission p = a or b and c not a"), ["4:23 `and`", "4:29 `not`"]);
  assert.deepEqual(warningsOf("permission p = a or (b and c or a)"), ["4:30 `or`"]);
});

test("the same operator in a row, and parentheses, are not warned of", () => {
  assert.deepEqual(warningsOf("permission p = a or b or c permission q = a and b and c"), []);
  assert.deepEqual(warningsOf("permission p = (a or b) and c permission q = a or (b and c)"), []);
});

test("a schema is printed so that it is not warned of", () => {
  const tree = parseSchema("entity e { permission p = a or b and c or (d not e or f) }");
  assert.equal(lintSchema(tree).length, 3);
  assert.deepEqual(lintSchema(parseSchema(printSchema(tree))), []);
});

test("recursion through not is warned of at the operator", () => {
  assert.deepEqual(warningsOf("permission view = a not parent.view"), ["4:21 permission"]);
  assert.deepEqual(warningsOf("permission p = a not (b or (c and p))"), ["4:18 permission"]);
  assert.deepEqual(warningsOf("permission p = a or q\npermission q = r\npermission r = a not\np"), [
    "6:18 permission",
  ]);
});

test("recursion without not, and not without recursion, are not warned of", () => {
  assert.deepEqual(warningsOf("permission view = a or parent.view"), []);
  assert.deepEqual(warningsOf("permission view = (a or parent.view) not b"), []);
  assert.deepEqual(warningsOf("permission p = a not q permission q = b or parent.q"), []);
});

test("a long chain of permissions is walked", () => {
  const chain = Array.from(
    { length: 3_000 },
    (_, index) => `permission ${nameOf(index)} = a not ${nameOf((index + 1) % 3_000)}`,
  );
  assert.equal(warningsOf(chain.join("\n")).length, 3_000);
});
