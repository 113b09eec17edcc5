import assert from "node:assert/strict";
import { test } from "node:test";

import { runThrough } from "../../src/base/steps.ts";
import { gatheredFacts } from "../../src/store/postgres/questions/gathered-facts.ts";

const names = JSON.stringify([
  ["doc", "viewer", "group", "member"],
  ["doc", null, "folder", null],
  ["doc", null],
]);
const ada = { type: "user", id: "ada", relation: "" };
const doc = (id: string): { readonly type: string; readonly id: string } => ({ type: "doc", id });

test("the codes of tuples stand for the names that the statement has, and have the others", () => {
  const edges = [
    ["0", "0", "1 parent inner", "1 parent ", "0"],
    ["a", "a", "a", "b", "b"],
    ["g1", "g2", "f1", "f2", "g1"],
  ];
  const direct = [
    ["2 viewer", "2 owner"],
    ["a", "b"],
  ];
  const pieces = [`n5 5 0 ${names}`, `e${JSON.stringify(edges)}`, `d${JSON.stringify(direct)}`];
  const { facts } = runThrough(gatheredFacts(pieces, ada, 100));
  assert.deepEqual([...facts.subjectIds(doc("a"), ["viewer"], "group", "member")], ["g1", "g2"]);
  assert.deepEqual([...facts.subjectIds(doc("b"), ["viewer"], "group", "member")], ["g1"]);
  assert.deepEqual([...facts.subjectIds(doc("b"), ["viewer"], "group", "")], []);
  assert.deepEqual(
    [...facts.subjects(doc("a"), "parent", "folder")],
    [{ id: "f1", relation: "inner" }],
  );
  assert.deepEqual([...facts.subjects(doc("b"), "parent", "folder")], [{ id: "f2", relation: "" }]);
  assert.equal(facts.hasTuple(doc("a"), ["viewer"], ada), true);
  assert.equal(facts.hasTuple(doc("a"), ["owner"], ada), false);
  assert.equal(facts.hasTuple(doc("b"), ["viewer", "owner"], ada), true);
  assert.equal(facts.hasTuple(doc("a"), ["viewer"], { ...ada, id: "bob" }), false);
});

test("a relation of an entity is put together from all pieces in which it stands", () => {
  const piece = (...subjects: readonly string[]): string =>
    `e${JSON.stringify([subjects.map(() => "0"), subjects.map(() => "a"), subjects])}`;
  const pieces = [`n3 3 0 ${names}`, piece("g1"), piece("g2", "g3")];
  const { facts } = runThrough(gatheredFacts(pieces, ada, 100));
  const ids = [...facts.subjectIds(doc("a"), ["viewer"], "group", "member")];
  assert.deepEqual(ids, ["g1", "g2", "g3"]);
});
