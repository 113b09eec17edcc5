import assert from "node:assert/strict";
import { test } from "node:test";

import { compileSchemaText, compileSchemaTextSteps } from "../../src/language/compile.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { printExpression, printSchema } from "../../src/language/print.ts";
import { schemaSizeMax } from "../../src/language/size.ts";
import { nameOf } from "./numbered-name.ts";
import { problemsOf } from "./problems.ts";

test("an expression of ten thousand operands compiles and prints", () => {
  for (const operators of [["or"], ["or", "and", "not"]]) {
    const operands = Array.from({ length: 10_000 }, (_, index) =>
      index === 0 ? "a" : ` ${operators[index % operators.length]} a`,
    ).join("");
    const text = `entity user {} entity doc { relation a @user permission p = ${operands} }`;
    const expression = compileSchemaText(text)
      .entities.get("doc")
      ?.permissions.get("p")?.expression;
    assert.ok(expression !== undefined);
    assert.equal(printExpression(expression), operands);
    assert.ok(printSchema(parseSchema(text)).includes(operands));
  }
});

test("parentheses nested a thousand levels deep on either side compile and print", () => {
  const left = `${"(".repeat(1_000)}a${" or a) and a".repeat(1_000)}`;
  const right = `${"a or (a and (".repeat(500)}a${"))".repeat(500)}`;
  for (const nested of [left, right]) {
    const text = `entity user {} entity doc { relation a @user permission p = ${nested} }`;
    compileSchemaText(text);
    const printed = printSchema(parseSchema(text));
    assert.equal(printSchema(parseSchema(printed)), printed);
  }
});

test("a schema of more names and operators than are evaluated is refused, with its place", () => {
  const permission = (index: number, operators: number): string =>
    `  permission ${nameOf(index)} = a${" or a".repeat(operators)}`;
  const text = (last: number): string =>
    [
      "entity user {}",
      "entity doc {",
      "  relation a @user",
      ...Array.from({ length: 4 }, (_, index) => permission(index, 9_999)),
      permission(4, last),
      "}",
    ].join("\n");
  const most = schemaSizeMax - 2 - 2 - 4 * 10_000 - 1;
  compileSchemaText(text(most));
  assert.deepEqual(
    problemsOf(() => compileSchemaText(text(most + 1))),
    [
      "8:14: schema too large: with permission `doc#n_e` it has more than 50000 names, relation types, operators and places of walks",
    ],
  );
});

test("a schema of ten thousand lines compiles within a second of processor time", () => {
  const lines = ["entity user {}"];
  for (let entity = 0; entity < 500; entity++) {
    lines.push(`entity ${nameOf(entity)} {`, `  relation parent @${nameOf((entity + 1) % 500)}`);
    for (let member = 0; member < 9; member++) {
      lines.push(
        `  relation r_${nameOf(member)} @user @${nameOf((entity + member) % 500)}#parent // some`,
        `  permission p_${nameOf(member)} = (r_${nameOf(member)} or parent.p_${nameOf(member)}) not parent`,
      );
    }
    lines.push("}");
  }
  assert.ok(lines.length > 10_000);
  const text = lines.join("\n");
  const start = process.cpuUsage();
  assert.equal(compileSchemaText(text).entities.size, 501);
  assert.ok(process.cpuUsage(start).user < 1_000_000);
});

test("a large schema with many mistakes is refused within a second of processor time", () => {
  const members = Array.from({ length: 5_000 }, (_, index) => `relation ${nameOf(index)} @user`);
  const wrong = Array.from(
    { length: 5_000 },
    (_, index) => `permission p_${nameOf(index)} = x_${nameOf(index)}`,
  );
  const text = `entity user {} entity doc {\n${[...members, ...wrong].join("\n")}\n}`;
  const start = process.cpuUsage();
  assert.equal(problemsOf(() => compileSchemaText(text)).length, 100);
  assert.ok(process.cpuUsage(start).user < 1_000_000);
});

test("a long line of quotes that close no string is refused within a second of processor time", () => {
  const long = 200_000;
  const quotes = ["'\\", '"\\', "'''\\", "x'\\'"].map((text) => text.repeat(long));
  const texts = [
    ...quotes.map((text) => `entity user {} ${text}`),
    ...quotes.map((text) => `entity user {} rule r(a integer) { ${text}`),
    ...quotes.map((text) => `\\n${text}`),
    `\\n${"//\n".repeat(long)}?`,
  ];
  for (const text of texts) {
    const start = process.cpuUsage();
    assert.ok(problemsOf(() => compileSchemaText(text)).length > 0);
    assert.ok(process.cpuUsage(start).user < 1_000_000, text.slice(0, 40));
  }
});

test("a walk over usersets that hold each other in a circle is checked once round", () => {
  const circle =
    "entity a { relation r @b#r permission p = s.x relation s @b#r } entity b { relation r @a#r }";
  assert.deepEqual(
    problemsOf(() => compileSchemaText(circle)),
    [
      "1:45: undefined relation reference: entity `b`, to which `s` leads, has no relation or permission `x`",
    ],
  );
});

test("a schema that is too large is refused before the rest of it is read", () => {
  const entities = Array.from(
    { length: schemaSizeMax - 2 },
    (_, index) => `entity ${nameOf(index)} {}`,
  );
  const [problem] = problemsOf(() => compileSchemaText(`${entities.join("\n")}\nentity last {} ?`));
  assert.match(problem ?? "", /expected token to be ENTITY, RULE/);
  const [early] = problemsOf(() =>
    compileSchemaText(`${entities.join("\n")}\nentity last { relation a @last } ?`),
  );
  assert.match(early ?? "", /^\d+:\d+: schema too large: with relation `last#a` it has more than/);
});

test("a schema is compiled in steps, and so is a text that is none", () => {
  const members = Array.from({ length: 5_000 }, (_, index) => `relation ${nameOf(index)} @user`);
  const steps = [...compileSchemaTextSteps(`entity user {}\nentity doc {${members.join("\n")}}`)];
  assert.ok(steps.length > 2 * members.length);
  const noSchema = compileSchemaTextSteps("? ".repeat(100_000));
  let count = 0;
  assert.throws(() => {
    while (noSchema.next().done !== true) count += 1;
  }, /expected token to be ENTITY, RULE/);
  assert.ok(count > 100);
});

test("a member of more parentheses or arguments than are read at once is refused", () => {
  const schema = (expression: string): string =>
    `entity user {} entity doc { relation a @user permission p = ${expression} }`;
  for (const expression of [
    Array.from({ length: 200 }, () => `${"(".repeat(600)}a${")".repeat(600)}`).join(" or "),
    `r(${"a, ".repeat(100_001)}a)`,
    `a${".a".repeat(100_001)}`,
  ]) {
    const [problem] = problemsOf(() => compileSchemaText(schema(expression)));
    assert.match(
      problem ?? "",
      /too long: it has more than 100000 parentheses, arguments and steps/,
    );
  }
});

test("a million semicolons are passed over", () => {
  const schema = compileSchemaText(`entity user {${"; ".repeat(1_000_000)}};`);
  assert.deepEqual([...schema.entities.keys()], ["user"]);
});
