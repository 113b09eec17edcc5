import assert from "node:assert/strict";
import { test } from "node:test";

import { compileSchemaText } from "../../src/language/compile.ts";
import { statementCache } from "../../src/store/postgres/questions/statement-cache.ts";

const one = compileSchemaText("entity user {}");
const other = compileSchemaText("entity user {}");

test("a statement is written once for a schema and key", () => {
  const statements = statementCache(1_000);
  const write = () => ({ text: "select 1", params: [] });
  const first = statements(one, "a", write);
  assert.equal(statements(one, "a", write), first);
  assert.notEqual(statements(one, "b", write), first);
  assert.notEqual(statements(other, "a", write), first);
  assert.equal(statements(one, "a", write), first);
});

test("statements that were used last are kept, up to so many characters", () => {
  const statements = statementCache(1_000);
  const written: string[] = [];
  const ask = (key: string, length: number): void => {
    statements(one, key, () => {
      written.push(key);
      return { text: "x".repeat(length), params: [] };
    });
  };
  ask("a", 400);
  ask("b", 400);
  ask("a", 400);
  ask("c", 400);
  ask("a", 400);
  ask("b", 400);
  assert.deepEqual(written, ["a", "b", "c", "b"]);
  ask("too long", 1_001);
  ask("too long", 1_001);
  ask("b", 400);
  assert.deepEqual(written, ["a", "b", "c", "b", "too long", "too long"]);
});
