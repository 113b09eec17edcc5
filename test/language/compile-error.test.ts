import assert from "node:assert/strict";
import { test } from "node:test";

import { compileSchemaText } from "../../src/language/compile.ts";
import { problemsOf, refusalOf } from "./problems.ts";

/** The problems of an entity `doc` with these members, on a line of their own, among others. */
function problemsIn(members: string): readonly string[] {
  return problemsOf(() =>
    compileSchemaText(`entity user {} entity doc {
${members}
}
entity org {
  relation admin @user
  relation member @user @org#member
  attribute open boolean
  permission manage = admin
}
rule high(level integer, min integer) { level > min }
rule always() { true }`),
  );
}

function assertProblems(cases: Readonly<Record<string, readonly string[]>>): void {
  for (const [members, problems] of Object.entries(cases)) {
    assert.deepEqual(problemsIn(members), problems, members);
  }
}

test("a schema without an entity is refused", () => {
  for (const text of ["", "\n// nothing\n", "rule always() { true }"]) {
    assert.deepEqual(
      problemsOf(() => compileSchemaText(text)),
      ["1:1: no entity references found in schema"],
    );
  }
});

test("the message begins with the place of the first error", () => {
  const error = refusalOf(() =>
    compileSchemaText("entity user {}\nentity doc {\n  relation owner @usr\n}"),
  );
  assert.equal(error.code, "SCHEMA_COMPILE");
  assert.equal(
    error.message,
    "ERROR_CODE_SCHEMA_COMPILE: 3:19: relation reference not found in entity references: type `usr` is not an entity (did you mean `user`?)",
  );
});

test("a name is declared once in its namespace", () => {
  assert.deepEqual(
    problemsOf(() =>
      compileSchemaText(
        "entity a {}\nrule a() { true }\nentity a {}\nrule b() { true } entity b {}",
      ),
    ),
    [
      "2:6: duplication found for `a` (first at 1:8)",
      "3:8: duplication found for `a` (first at 1:8)",
      "4:26: duplication found for `b` (first at 4:6)",
    ],
  );
  assertProblems({
    "relation a @user attribute a boolean permission a = a": [
      "2:28: duplication found for `doc#a` (first at 2:10)",
      "2:49: duplication found for `doc#a` (first at 2:10)",
    ],
  });
});

test("a relation leads to entities and to their relations", () => {
  const prefix = "relation reference not found in entity references: ";
  assertProblems({
    "relation r @user @org#admin @team": [`2:30: ${prefix}type \`team\` is not an entity`],
    "relation r @org#owner": [`2:17: ${prefix}entity \`org\` has no relation \`owner\``],
    "relation r @org#membr": [
      `2:17: ${prefix}entity \`org\` has no relation \`membr\` (did you mean \`member\`?)`,
    ],
    "relation r @org#manage": [
      `2:17: ${prefix}entity \`org\` has no relation \`manage\`, \`manage\` is a permission`,
    ],
    "relation r @org#open": [
      `2:17: ${prefix}entity \`org\` has no relation \`open\`, \`open\` is an attribute`,
    ],
    "relation r @high": [`2:13: ${prefix}type \`high\` is not an entity`],
  });
});

test("an operand is a relation, a permission or a boolean attribute of the entity", () => {
  const prefix = "undefined relation reference: entity `doc` has no ";
  assertProblems({
    "relation owner @user permission p = ownr": [
      `2:37: ${prefix}\`ownr\` (did you mean \`owner\`?)`,
    ],
    "permission p = always": [
      `2:16: ${prefix}\`always\`: it is a rule, which is called with attributes in parentheses`,
    ],
    "attribute level integer permission p = level": [
      "2:40: schema compile: attribute `level` of type `integer` is no operand, only a `boolean` attribute is",
    ],
    "attribute flags boolean[] permission p = flags": [
      "2:42: schema compile: attribute `flags` of type `boolean[]` is no operand, only a `boolean` attribute is",
    ],
    "relation r @user permission p = r or (x and y)": [
      `2:39: ${prefix}\`x\``,
      `2:45: ${prefix}\`y\``,
    ],
  });
});

test("a walk goes one step, over a relation, to a relation or permission", () => {
  const prefix = "undefined relation reference: entity ";
  assertProblems({
    "relation r @org permission p = r.admin.name": [
      "2:40: not supported relation walk: `r.admin.name` has more than one step, name the rest in a permission of its own",
    ],
    "permission p = r.admin": [`2:16: ${prefix}\`doc\` has no relation \`r\``],
    "permission q = q permission p = q.admin": [
      `2:33: ${prefix}\`doc\` has no relation \`q\`: \`q\` is a permission, a walk begins with a relation`,
    ],
    "attribute q boolean permission p = q.admin": [
      `2:36: ${prefix}\`doc\` has no relation \`q\`: \`q\` is an attribute, a walk begins with a relation`,
    ],
    "relation r @org permission p = r.adm": [
      `2:34: ${prefix}\`org\`, to which \`r\` leads, has no relation or permission \`adm\``,
    ],
    "relation r @org permission p = r.open": [
      `2:34: ${prefix}\`org\`, to which \`r\` leads, has no relation or permission \`open\`: it is an attribute there`,
    ],
    "relation r @org @user permission p = r.manage": [
      `2:40: ${prefix}\`user\`, to which \`r\` leads, has no relation or permission \`manage\``,
    ],
    "relation r @org#member permission p = r.edit": [
      `2:41: ${prefix}\`org\`, to which \`r\` leads, has no relation or permission \`edit\``,
    ],
  });
});

test("a rule is called with attributes that are named and typed as its parameters", () => {
  const attributes = "attribute level integer attribute min integer attribute max integer";
  assertProblems({
    [`${attributes}\npermission p = hgh(level, min)`]: [
      "3:16: invalid rule reference: there is no rule `hgh` (did you mean `high`?)",
    ],
    [`${attributes}\npermission p = doc(level)`]: [
      "3:16: invalid rule reference: there is no rule `doc`",
    ],
    [`${attributes}\npermission p = always()`]: [
      "3:16: missing argument: a call needs at least one argument, `always` is called without",
    ],
    [`${attributes}\npermission p = high(level)`]: [
      "3:16: missing argument: rule `high` has 2 parameters, the call has 1 arguments",
    ],
    [`${attributes}\npermission p = high(level, levl)`]: [
      "3:28: invalid rule reference: entity `doc` has no attribute `levl` (did you mean `level`?)",
    ],
    [`${attributes}\npermission p = high(level, p)`]: [
      "3:28: invalid rule reference: entity `doc` has no attribute `p`",
    ],
    [`${attributes}\npermission p = high(level, max)`]: [
      "3:28: invalid argument: rule `high` has no parameter `max`, arguments are matched by name",
    ],
    [`${attributes}\npermission p = high(level, level)`]: [
      "3:28: invalid argument: `level` is given twice",
    ],
    [`${attributes}\npermission p = high(level, r.min)`]: [
      "3:28: not supported walk: the argument `r.min` must be an attribute of the entity itself",
    ],
    ["attribute level integer attribute min double permission p = high(level, min)"]: [
      "2:73: invalid argument: attribute `min` is of type `double`, the parameter of rule `high` is of type `integer`",
    ],
  });
});

test("attributes and parameters have one of the eight types", () => {
  assertProblems({
    "attribute a strin": [
      "2:13: invalid argument: `strin` is not an attribute type (did you mean `string`?)",
    ],
    "attribute a date": [
      "2:13: invalid argument: `date` is not an attribute type, one of boolean, boolean[], string, string[], integer, integer[], double, double[]",
    ],
  });
  assert.deepEqual(
    problemsOf(() => compileSchemaText("entity a {} rule r(x Integer, context string) { x > 1 }")),
    [
      "1:22: invalid argument: `Integer` is not an attribute type (did you mean `integer`?)",
      "1:31: invalid argument: `context` is the context of the request, a parameter needs another name",
    ],
  );
});

test("the parameters of a rule differ", () => {
  assert.deepEqual(
    problemsOf(() => compileSchemaText("entity a {} rule r(x integer, x string) { x > 1 }")),
    ["1:31: duplication found for `r#x`"],
  );
});

test("an error in the expression of a rule is reported where it is", () => {
  const positions = (body: string): readonly string[] =>
    problemsOf(() =>
      compileSchemaText(`entity user {}\nrule r(n integer, s string) {${body}}`),
    ).map((problem) => problem.replace(/^(\d+:\d+: rule `r`).*/, "$1"));
  assert.deepEqual(positions("\n  n > 1 &&\n  /* é\n */ s > 2 }".slice(0, -2)), ["5:5: rule `r`"]);
  assert.deepEqual(positions(" n + 1 "), ["2:31: rule `r`"]);
  assert.deepEqual(positions("\\n\\n unknown == n"), ["4:2: rule `r`"]);
  assert.deepEqual(positions("n > 1 &&\n  (s == 'a'"), ["3:12: rule `r`"]);
  assert.deepEqual(positions(" \n "), ["2:6: rule `r`"]);
});

test("every mistake is reported in the order of the text", () => {
  const text = `rule r(x integer) { x }
entity doc {
  relation owner @usr
  permission view = viewer or r(x)
}
entity doc {}`;
  const places = problemsOf(() => compileSchemaText(text)).map((problem) => problem.slice(0, 4));
  assert.deepEqual(places, ["1:21", "3:19", "4:21", "4:33", "6:8:"]);
});
