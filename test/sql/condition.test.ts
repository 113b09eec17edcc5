import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import type { AttributeType, AttributeValue, JsonValue } from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";
import type { Condition, ConditionInput } from "../../src/condition/condition.ts";
import { defaultValue } from "../../src/condition/defaults.ts";
import {
  evaluateConstants,
  evaluateRows,
  explainTranslation,
} from "../support/condition-database.ts";
import { randomParameters } from "../support/condition-values.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";

let testDatabase: TestDatabase;
let database: postgres.Sql;

before(async () => {
  testDatabase = await createTestDatabase();
  database = postgres(testDatabase.url, { max: 1, onnotice: () => {} });
});

after(async () => {
  await database.end();
  await testDatabase.drop();
});

function compile(text: string): Condition {
  const compiled = compileCondition(text, randomParameters);
  assert.ok(compiled.ok, compiled.ok ? "" : `${text}: ${compiled.message}`);
  return compiled.condition;
}

function inputOf(
  values: Readonly<Record<string, AttributeValue>>,
  data: { readonly [key: string]: JsonValue },
): ConditionInput {
  const defaults = [...randomParameters].map(
    ([name, type]: readonly [string, AttributeType]) => [name, defaultValue(type)] as const,
  );
  return { parameters: new Map([...defaults, ...Object.entries(values)]), data };
}

/** The answer in SQL, as rows and as constants; both engines must agree on it. */
async function answer(
  text: string,
  values: Readonly<Record<string, AttributeValue>> = {},
  data: { readonly [key: string]: JsonValue } = {},
): Promise<boolean | null | undefined> {
  const condition = compile(text);
  const input = inputOf(values, data);
  const verdict = evaluateCondition(condition, input);
  const rows = await evaluateRows(database, condition, [input]);
  const constant = await evaluateConstants(database, condition, input);
  const expected = verdict.kind === "value" ? verdict.value : null;
  assert.equal(rows?.[0], expected, `${text} as a row: ${explainTranslation(condition)}`);
  assert.equal(constant, expected, `${text} as constants: ${explainTranslation(condition)}`);
  return constant;
}

const faults = [
  "1 / age == 1",
  "1 % age == 1",
  "9223372036854775807 + 1 > 0",
  "-9223372036854775808 / -1 > 0",
  "-9223372036854775808 % -1 == 0",
  "(age - age - 9223372036854775807 - 1) % (age - age - 1) == 0",
  "9223372036854775807 * 9223372036854775807 > 0",
  "context.data.missing == 1",
  "context.data.text < 1",
  "context.data.text + 'a' == context.data.missing + 'b'",
  "-context.data.text > 0.0",
  "context.data.number + 1 > 0",
  "names[0] == 'a'",
  "ages[-1] == 0 || ages[9223372036854775807] == 0",
  "context.data.list[9] == 1",
  "context.data.list[-1] == 1",
  "context.data.text[0] == 'a'",
  "has(context.data.text.a)",
  "size(context.data.number) == 1",
  "1 in context.data.text",
  "context.data.missing in []",
  "context.data.missing in names",
  "'a' in [context.data.text, name + context.data.missing]",
  "context.data.text && true",
  "context.data.missing ? true : true",
  "context.data.missing.contains('a')",
  "context.data.number.contains('a')",
  "size([context.data.missing]) == 1",
  "timestamp(context.data.missing) > timestamp(0)",
  "timestamp(context.data.number) > timestamp(0)",
  "timestamp(context.data.text) > timestamp(0) || duration(context.data.text) > duration('0')",
  "timestamp('2023-02-29T00:00:00Z') > timestamp(0)",
  "timestamp(9223372036854775807) > timestamp(0)",
  "timestamp('9999-12-31T23:59:59.999999999Z') + duration('1ns') > timestamp(0)",
  "timestamp('2024-01-01T00:00:00Z') - timestamp('1024-01-01T00:00:00Z') > duration('0')",
  "duration('9223372036854775807ns') + duration('1ns') > duration('0')",
];

for (const text of faults) {
  test(`\`${text}\` is null in SQL, not an error`, async () => {
    const data = { text: "abc", number: 1.5, list: [1, "a"] };
    assert.equal(await answer(text, {}, data), null);
  });
}

test("a search that could take long is null in SQL", async () => {
  const condition = compile("context.data.text.contains(name)");
  const searched = async (text: string, part: string): Promise<readonly (boolean | null)[]> => {
    const input = inputOf({ name: { type: "string", data: part } }, { text });
    const rows = await evaluateRows(database, condition, [input]);
    return [rows?.[0] ?? null, (await evaluateConstants(database, condition, input)) ?? null];
  };
  const half = "a".repeat(250_000);
  assert.deepEqual(await searched("a".repeat(1_000_000), `${half}b${half}`), [null, null]);
  assert.deepEqual(await searched("a".repeat(1_000_000), "ab"), [false, false]);
  assert.deepEqual(await searched("ab".repeat(1_000), "ba".repeat(999)), [true, true]);
});

test("a long text that is put together is null in SQL", async () => {
  const halves = (times: number): string =>
    times === 0 ? "name" : `(${halves(times - 1)} + ${halves(times - 1)})`;
  const condition = compile(`${halves(9)} == context.data.text`);
  const compared = async (size: number, text: string): Promise<boolean | null | undefined> => {
    const name = { type: "string", data: "x".repeat(size) } as const;
    const rows = await evaluateRows(database, condition, [inputOf({ name }, { text })]);
    return rows?.[0];
  };
  assert.equal(await compared(100, "x".repeat(51_200)), true);
  assert.equal(await compared(100, "x".repeat(51_201)), false);
  // All copies of it would be more than a text may have in Postgres.
  assert.equal(await compared(2_500_000, ""), null);
});

const holds = [
  "!(age != 0 && 1 / age == 1) && (age == 0 || 1 / age == 1)",
  "!(1 / age == 1 && age != 0)",
  "age == 0 ? true : 1 / age == 1",
  "-7 / 2 == -3 && -7 % 2 == -1 && -7 % -1 == 0",
  "rate / 0.0 != rate / 0.0 && 1.0 / rate > 1.7976931348623157e308",
  "1e308 * 10.0 > 1.7976931348623157e308 && 1e-300 * 1e-300 == 0.0",
  "context.data.number > 1 && context.data.number < 2 && context.data.number == 1.5",
  "context.data.big >= 9223372036854775807 && context.data.big == 9223372036854775807",
  "context.data.big - 1.0 <= context.data.big",
  "context.data.list[0] == 1 && context.data.list[1] == 'a' && size(context.data.list) == 2",
  "1 in context.data.list && 'a' in context.data.list && !(2 in context.data.list)",
  "'a' in context.data.map && !('b' in context.data.map) && !(1 in context.data.map)",
  "context.data.nothing == null && null in [context.data.nothing]",
  "context.data['text'].startsWith('ab') && context.data.text.endsWith('bc')",
  "'100%_\\\\'.contains('%_') && !'a'.contains('%') && 'it\\'s'.endsWith('\\'s')",
  "'\\U0001F600' > '\\uFFFD' && 'Z' < 'a' && size('\\U0001F600') == 1",
  "context.data.map == context.data.same && context.data.map != context.data.list",
  "has(context.data.map.a) && !has(context.data.map.b) && size(context.data) > 3",
  "int('-7') == -7 && int(2.9) == 2 && int(context.data.number) == 1 && double(7) == 7.0",
  "string(-7) == '-7' && string(true) == 'true' && bool('True') && !bool('f') && dyn(age) == 0",
  "'team-7'.matches('^team-\\\\d+$') && context.data.text.matches('b') && !'a\\nb'.matches('a.b')",
  "timestamp(context.data.at) - timestamp('2024-02-29T22:59:59Z') == duration('1.000000001s')",
  "timestamp(context.data.at) > timestamp('2024-02-29T23:00:00Z') && timestamp(0) < timestamp(1)",
  "timestamp(context.data.at) + duration(context.data.span) < timestamp(context.data.at)",
  "duration(context.data.span) == duration('-90m') && duration('1.5h') != duration('1h')",
  "timestamp(context.data.at).getFullYear() == 2024 && timestamp(context.data.at).getMonth() == 1",
  "timestamp(context.data.at).getDate() == 29 && timestamp(context.data.at).getDayOfMonth() == 28",
  "timestamp(context.data.at).getDayOfWeek() == 4 && timestamp(context.data.at).getDayOfYear() == 59",
  "timestamp(context.data.at).getHours() == 23 && timestamp(context.data.at).getMinutes() == 0",
  "timestamp(-1).getSeconds() == 59 && timestamp('0001-01-01T00:00:00Z').getMilliseconds() == 0",
  "duration(context.data.span).getHours() == -1 && duration(context.data.span).getMinutes() == -90",
  "int(timestamp('1969-12-31T23:59:59.5Z')) == -1 && context.data.at != timestamp(context.data.at)",
  "name in ['', 'x'] && !(name in ['x']) && context.data.text in ['abc'] && age in [0, 1]",
  "!(name in [context.data.text, context.data.list]) && 'abc' in [context.data.number, context.data.text]",
  "context.data.key in context.data.map && !(context.data.number in context.data.map)",
  "context.data.key < context.data.text && context.data.text >= context.data.key",
  "(age == 1 ? name : context.data.text) == 'abc' && (age == 1 ? age == 1 : context.data.nothing) == null",
  "null == null && context.data.nothing == null && int(age) == age",
  "(age == 0 ? 7 : age) == 7 && (age == 0 ? context.data.text : context.data.number) == 'abc'",
];

for (const text of holds) {
  test(`\`${text}\` holds in SQL`, async () => {
    const map = { a: [1, { b: null }] };
    const data = {
      text: "abc",
      number: 1.5,
      big: 2 ** 63,
      list: [1, "a"],
      map,
      same: structuredClone(map),
      nothing: null,
      at: "2024-03-01T00:30:00.000000001+01:30",
      span: "-1h30m",
      key: "a",
    };
    assert.equal(await answer(text, {}, data), true);
  });
}

test("NaN is unlike everything and in no order with anything", async () => {
  const values = {
    rate: { type: "double", data: Number.NaN },
    rates: { type: "double[]", data: [Number.NaN] },
  } as const;
  const texts = [
    "rate == rate",
    "rate < 1.0",
    "rate >= 1.0",
    "1.0 < rate",
    "rate in rates",
    "rates[0] <= rate",
    "(age == 0 ? rate : 1.0) >= 1.0",
    "(age == 1 ? 1.0 : rate) >= 1.0",
  ];
  for (const text of texts) assert.equal(await answer(text, values), false, text);
  assert.equal(await answer("rate != rate", values), true);
  assert.equal(await answer("context.data.x < rate", values, { x: 1 }), false);
  assert.equal(await answer("context.data.x < rate", values, { x: "1" }), null);
});

const untranslatable: readonly (readonly [text: string, reason: string])[] = [
  ["name.matches('(ab)+')", "a pattern that Postgres may read otherwise"],
  ["name.matches(context.data.text)", "`matches` of a pattern that is not a literal"],
  ["names.exists(x, x == name)", "`exists`"],
  ["size(names.map(x, x)) == 1", "`map`"],
  ["double(name) == 1.0", "`double` of string"],
  ["string(rate) == '1'", "`string` of double"],
  ["timestamp(name).getHours('Europe/Paris') == 1", "a time zone"],
  ["string(timestamp(name)) == name", "`string` of timestamp"],
  ["names == ['a']", "a list as a value"],
  ["timestamp(name) + context.data.span == timestamp(name)", "`+` of timestamp and json"],
  ["names[context.data.number] == 'a'", "an index of kind json"],
  ["names == context.data.list", "`==` of lists"],
  ["context.data.list != names", "`==` of lists"],
  ["(age == 0 ? age : context.data.number) == 1", "int beside another type"],
  ["name == '\\000'", "a string with a NUL character"],
  ["b'a' == b'b'", "a value of type bytes"],
  ["context.data.a + context.data.b == 'ab'", "`+` of two values of unknown types"],
  [`${Array.from({ length: 60 }, () => "age").join(" + ")} > 1`, "it is nested too deeply"],
];

for (const [text, reason] of untranslatable) {
  test(`\`${text.slice(0, 60)}\` has no SQL, and the reason is told`, () => {
    assert.equal(explainTranslation(compile(text)), reason);
  });
}

test("a rule reads in SQL as it reads in the schema", () => {
  assert.equal(
    explainTranslation(compile("flag && (age >= 18 || name == 'it\\'s')")),
    `((flag and ((age >= '18'::bigint) or ((name) collate "C" = 'it''s'::text))))`,
  );
  assert.equal(
    explainTranslation(compile("context.data.ip in names")),
    `(case when (data -> 'ip'::text) is not null then case when jsonb_typeof((data -> 'ip'::text)) = 'string' then ((data -> 'ip'::text) #>> '{}') collate "C" = any(names) else false end end)`,
  );
});
