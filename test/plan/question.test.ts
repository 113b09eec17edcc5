import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import { questionUnder } from "../../src/plan/question-of.ts";
import type { Question } from "../../src/plan/question.ts";

const schema = compileSchemaText(`
entity user {}
entity doc {
  relation viewer @user
  attribute open boolean
  attribute level integer
  permission view = viewer or open
}
rule above(level integer) { level > 3 }
rule named(title string) { title == "a" }`);

const asked: Question = {
  entityType: "doc",
  permission: "view",
  subjectType: "user",
  subjectRelation: "",
  arguments: [],
};

const path = (field: string): string => `items[2].${field}`;

const mistakes: readonly {
  readonly name: string;
  readonly question: Partial<Question>;
  readonly code: string;
  readonly message: RegExp;
}[] = [
  {
    name: "an entity type that the schema does not have",
    question: { entityType: "file" },
    code: "ENTITY_TYPE_NOT_FOUND",
    message: /: items\[2\]\.entity\.type: `file` /,
  },
  {
    name: "a permission that the entity does not have",
    question: { permission: "edit" },
    code: "PERMISSION_NOT_FOUND",
    message: /: items\[2\]\.permission: `doc` has no permission, relation or attribute `edit`/,
  },
  {
    name: "a permission that is misspelt",
    question: { permission: "viw" },
    code: "PERMISSION_NOT_FOUND",
    message: /: `doc` has no permission, relation or attribute `viw` \(did you mean `view`\?\)$/,
  },
  {
    name: "an entity type that is misspelt",
    question: { entityType: "dok" },
    code: "ENTITY_TYPE_NOT_FOUND",
    message: /: `dok` is not an entity of the schema \(did you mean `doc`\?\)$/,
  },
  {
    name: "a subject type that is misspelt",
    question: { subjectType: "users" },
    code: "SUBJECT_TYPE_NOT_FOUND",
    message: /: `users` is not an entity of the schema \(did you mean `user`\?\)$/,
  },
  {
    name: "a subject relation that is misspelt",
    question: { subjectType: "doc", subjectRelation: "viewers" },
    code: "RELATION_DEFINITION_NOT_FOUND",
    message: /: `doc` has no relation or permission `viewers` \(did you mean `viewer`\?\)$/,
  },
  {
    name: "an attribute that is not boolean",
    question: { permission: "level" },
    code: "PERMISSION_NOT_FOUND",
    message: /: items\[2\]\.permission: the attribute `level` of `doc` is `integer`/,
  },
  {
    name: "a subject type that the schema does not have",
    question: { subjectType: "robot" },
    code: "SUBJECT_TYPE_NOT_FOUND",
    message: /: items\[2\]\.subject\.type: `robot` /,
  },
  {
    name: "a subject relation that the subject type does not have",
    question: { subjectType: "doc", subjectRelation: "owner" },
    code: "RELATION_DEFINITION_NOT_FOUND",
    message: /: items\[2\]\.subject\.relation: `doc` has no relation or permission `owner`/,
  },
  {
    name: "a rule without its argument",
    question: { permission: "above" },
    code: "MISSING_ARGUMENT",
    message: /: items\[2\]\.arguments: the rule `above` needs the argument `level`/,
  },
  {
    name: "a rule with an argument too many",
    question: { permission: "above", arguments: ["level", "open"] },
    code: "INVALID_ARGUMENT",
    message: /: items\[2\]\.arguments: the rule `above` has no parameter `open`/,
  },
  {
    name: "a rule whose parameter is no attribute of the entity",
    question: { permission: "named", arguments: ["title"] },
    code: "INVALID_ARGUMENT",
    message:
      /: items\[2\]\.arguments: `title` of `named` is `string`, but `doc` has no such attribute/,
  },
];

for (const { name, question, code, message } of mistakes) {
  test(`asking for ${name} names the field of the request`, () => {
    assert.throws(
      () => planOf(schema, { ...asked, ...question }, path),
      (error) => {
        assert.ok(error instanceof PembaError);
        assert.equal(error.code, code);
        assert.equal(error.kind, "invalid_argument");
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test("relations, permissions, boolean attributes and rules can be asked", () => {
  for (const question of [
    { permission: "view" },
    { permission: "viewer" },
    { permission: "open" },
    { permission: "above", arguments: ["level"] },
    { subjectType: "doc", subjectRelation: "view" },
    { subjectType: "doc", subjectRelation: "open" },
  ]) {
    assert.equal(planOf(schema, { ...asked, ...question }, path).kind, "search");
  }
});

test("arguments are part of a question only where a rule is asked", () => {
  const item = {
    entity: { type: "doc" },
    permission: "view",
    subject: { type: "user", relation: "" },
    arguments: ["nonsense", "level"],
  };
  const argumentsOf = (permission: string): readonly string[] =>
    questionUnder(schema, { ...item, permission }).arguments;
  assert.deepEqual(["view", "viewer", "open", "edit"].map(argumentsOf), [[], [], [], []]);
  assert.deepEqual(argumentsOf("above"), ["level", "nonsense"]);
});

test("a name of the entity goes before a rule of that name", () => {
  const both = compileSchemaText(`
entity user {}
entity doc {
  relation viewer @user
  attribute level integer
  permission level_of = viewer
}
rule viewer(level integer) { level > 3 }
rule level(level integer) { level > 3 }
rule level_of(level integer) { level > 3 }`);
  const item = {
    entity: { type: "doc" },
    permission: "viewer",
    subject: { type: "user", relation: "" },
    arguments: ["level"],
  };
  for (const permission of ["viewer", "level", "level_of"]) {
    assert.deepEqual(questionUnder(both, { ...item, permission }).arguments, []);
  }
});
