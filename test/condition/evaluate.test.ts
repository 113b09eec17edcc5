import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Pace } from "../../src/base/steps.ts";
import type { AttributeType, AttributeValue, JsonValue } from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";
import type { ConditionVerdict } from "../../src/condition/condition.ts";
import { defaultValue } from "../../src/condition/defaults.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";

interface Input {
  readonly parameters?: Readonly<Record<string, AttributeValue>>;
  readonly data?: { readonly [key: string]: JsonValue };
}

function evaluate(text: string, input: Input = {}): ConditionVerdict {
  const values = new Map(Object.entries(input.parameters ?? {}));
  const types = new Map<string, AttributeType>();
  for (const [name, value] of values) types.set(name, value.type);
  const outcome = compileCondition(text, types);
  assert.ok(outcome.ok, outcome.ok ? "" : `${outcome.message} at ${outcome.offset}`);
  return evaluateCondition(outcome.condition, { parameters: values, data: input.data ?? {} });
}

function value(text: string, input: Input = {}): boolean {
  const verdict = evaluate(text, input);
  assert.equal(verdict.kind, "value", `\`${text}\`: ${JSON.stringify(verdict)}`);
  return verdict.kind === "value" && verdict.value;
}

function faultOf(text: string, input: Input = {}): string {
  const verdict = evaluate(text, input);
  assert.equal(verdict.kind, "fault", `\`${text}\`: ${JSON.stringify(verdict)}`);
  return verdict.kind === "fault" ? verdict.message : "";
}

const holds: Readonly<Record<string, readonly string[]>> = {
  "integers have 64 bits and divide towards zero": [
    "9223372036854775806 + 1 == 9223372036854775807",
    "-7 / 2 == -3 && -7 % 2 == -1 && 7 % -2 == 1",
    "-7 % -1 == 0",
  ],
  "doubles follow IEEE 754": [
    "1.0 / 0.0 > 1e308 && -1.0 / 0.0 < -1e308",
    "!(0.0 / 0.0 == 0.0 / 0.0) && 0.0 / 0.0 != 1.0",
    "!(0.0 / 0.0 < 1.0) && !(0.0 / 0.0 >= 1.0)",
    "1e308 * 10.0 == 1.0 / 0.0 && 1e-300 * 1e-300 == 0.0",
  ],
  "strings order by code points": [
    "'\\U0001F600' > '\\uFFFD'",
    "'a' < 'b' && 'a' < 'aa' && '' < 'a'",
  ],
  "size counts code points": ["size('\\U0001F600a') == 2", "'abc'.size() == 3"],
  "text is searched": [
    "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')",
    "'hello'.contains('') && 'hello'.startsWith('') && !'a'.endsWith('aa')",
  ],
  "patterns are those of RE2 and match any part": [
    "'hello'.matches('l+') && !'hello'.matches('^l') && matches('hello', 'h.*o$')",
    "'\\U0001F600'.matches('^.$') && 'É'.matches('^\\\\p{Lu}$')",
  ],
  "a decided operand wins over a fault": [
    "!(false && 1 / 0 == 1) && !(1 / 0 == 1 && false)",
    "(true || 1 / 0 == 1) && (1 / 0 == 1 || true)",
    "true ? true : 1 / 0 == 1",
    "[1, 0].exists(x, 1 / x == 1) && ![0, 2].all(x, 1 / x == 1)",
  ],
  "comprehensions run over lists and keys": [
    "[1, 2, 3].all(x, x > 0) && [1, 2, 3].exists_one(x, x == 2)",
    "[1, 2, 3].filter(x, x > 1) == [2, 3] && [1, 2].map(x, x * 2) == [2, 4]",
    "[1, 2, 3].map(x, x > 1, x * x) == [4, 9]",
    "{'a': 1, 'b': 2}.all(key, key in ['a', 'b'])",
    "[1, 2].all(x, [3, 4].exists(y, y == x + 2))",
  ],
  "lists, maps and their elements": [
    "[1, 2][1] == 2 && {'a': 1}.a == 1 && {1: 'x'}[1] == 'x' && {true: 1}[true] == 1",
    "1 in {1: 2} && !(dyn('1') in {1: 2}) && 2 in [1, 2] && [1] + [2] == [1, 2]",
    "[1, 'a'] == [1, 'a'] && {'a': [1]} == {'a': [1]} && [] == []",
    "[1, 2][dyn(1.0)] == 2",
  ],
  "values of two types are unequal, numbers compare across theirs": [
    "dyn(1) == 1.0 && dyn(1) != '1' && dyn(null) != 0",
    "dyn(9007199254740993) == 9007199254740992.0 && dyn(9007199254740994) > 9007199254740992.0",
    "!(dyn(9223372036854775807) < 9223372036854775808.0)",
  ],
  conversions: [
    "int('-12') == -12 && int(3.99) == 3 && int(-3.99) == -3 && double('1.5') == 1.5",
    "string(1.5) == '1.5' && string(12) == '12' && string(true) == 'true' && string(b'a') == 'a'",
    "bool('true') && !bool('FALSE') && bytes('é') == b'\\303\\251' && size(bytes('é')) == 2",
    "string(1000000.0) == '1000000' && string(1e20) == '100000000000000000000'",
    "string(1e21) == '1e+21' && string(1e-7) == '1e-07' && string(0.0 / 0.0) == 'NaN'",
    "type(1) == int && type('a') == string && type([1]) == list && type(null) == null_type",
  ],
  "times and durations": [
    "timestamp('2024-02-29T12:00:00+02:00') == timestamp('2024-02-29T10:00:00Z')",
    "timestamp('2024-01-01T00:00:00Z') - timestamp('2023-12-31T00:00:00Z') == duration('24h')",
    "timestamp('2023-12-25T00:00:00Z').getDate('America/Los_Angeles') == 24",
    "timestamp('2023-12-25T00:00:00Z').getHours('-08:00') == 16",
    "timestamp('2024-12-31T23:59:59.123Z').getDayOfYear() == 365",
    "timestamp('2023-12-25T12:00:00.500Z').getMilliseconds() == 500",
    "duration('1.234s').getMilliseconds() == 234 && duration('1h30m').getMinutes() == 90",
    "string(duration('1m1ms')) == '60.001s' && string(duration('-1500ms')) == '-1.5s'",
    "string(timestamp('0001-01-01T00:00:00.000000001Z')) == '0001-01-01T00:00:00.000000001Z'",
    "type(timestamp(0)) == google.protobuf.Timestamp && type(duration('0')) != google.protobuf.Timestamp",
    "int(timestamp('1969-12-31T23:59:59.5Z')) == -1 && timestamp(1) == timestamp('1970-01-01T00:00:01Z')",
  ],
};

for (const [fact, texts] of Object.entries(holds)) {
  test(fact, () => {
    for (const text of texts) assert.equal(value(text), true, text);
  });
}

test("faults name what went wrong and the part of the rule", () => {
  const faults: readonly (readonly [string, RegExp])[] = [
    ["1 / 0 == 1", /^division by zero in `1 \/ 0`$/],
    ["1 % 0 == 1", /^modulus by zero in `1 % 0`$/],
    ["9223372036854775807 + 1 > 0", /^integer overflow in `9223372036854775807 \+ 1`$/],
    ["-(-9223372036854775808) > 0", /^integer overflow/],
    ["-9223372036854775808 / -1 > 0", /^integer overflow/],
    ["-9223372036854775808 % -1 == 0", /^integer overflow/],
    ["[1][1] == 1", /^index out of range: 1 in `\[1\]\[1\]`$/],
    ["context.data.a == 1", /^no such key: `a` in `context\.data\.a`, send it in `context\.data`$/],
    ["context.data['a'] == 1", /^no such key in `context\.data\['a'\]`, send it in/],
    ["{'a': {'b': 1}}.a.c == 1", /^no such key: `c` in `\{'a': \{'b': 1\}\}\.a\.c`$/],
    ["has(context.data.a.b)", /^no such key: `a`/],
    ["[1, 2].exists(x, x / 0 == 1)", /^division by zero in `x \/ 0`$/],
    ["int('a') == 1", /^`a` is not an integer/],
    [`int('${"a".repeat(500)}') == 1`, /^`a{100}\.\.\.` is not an integer in `int\('a{95}\.\.\.`/],
    ["int(9223372036854775808.0) == 1", /^integer overflow/],
    ["timestamp('2023-02-29T00:00:00Z') == timestamp(0)", /is not a timestamp/],
    ["timestamp(253402300799) + duration('1s') == timestamp(0)", /^timestamp out of range/],
    ["timestamp(253402300799) - timestamp(0) > duration('0')", /^duration out of range/],
    ["timestamp(0).getHours('Nowhere/Else') == 1", /^unknown time zone/],
    ["timestamp(0).getHours('+24:00') == 0", /^unknown time zone/],
    ["timestamp(0).getHours('05:60') == 6", /^unknown time zone/],
    ["timestamp(0).getHours('05:00:60') == 5", /^unknown time zone/],
    ["{dyn(1.5): 1} == {}", /^double cannot be the key of a map/],
    ["double('1_000') == 1000.0", /^`1_000` is not a double/],
    ["{'a': 1, 'a': 2}.size() == 1", /^the key of a map is repeated/],
  ];
  for (const [text, message] of faults) assert.match(faultOf(text), message);
});

test("numbers of the context compare with integers and doubles", () => {
  const data = { age: 18, half: 0.5, big: 2 ** 63 };
  assert.equal(value("context.data.age >= 18 && context.data.age < 18.5", { data }), true);
  assert.equal(value("context.data.age in [17, 18] && context.data.age == 18.0", { data }), true);
  assert.equal(value("context.data.half > 0 && context.data.half < 1", { data }), true);
  assert.equal(value("context.data.big == 9223372036854775807", { data }), true);
  assert.match(faultOf("context.data.age + 1 > 2", { data }), /^no such overload: double \+ int/);
  assert.equal(value("context.data.age + 1.0 == 19.0", { data }), true);
});

test("a type clash is a fault of an order and an inequality of ==", () => {
  const data = { text: "1", nothing: null, list: ["a", 1] };
  assert.match(faultOf("context.data.text < 2", { data }), /^no such overload: string < int/);
  assert.equal(value("context.data.text == 1", { data }), false);
  assert.equal(value("context.data.nothing == null && context.data.text != null", { data }), true);
  assert.equal(value("1 in context.data.list && 'a' in context.data.list", { data }), true);
  assert.match(faultOf("1 in context.data.text", { data }), /^no such overload: int in string/);
});

test("has asks for a key of a map and faults on anything else", () => {
  const data = { user: { name: null }, text: "a", list: [1] };
  assert.equal(value("has(context.data.user.name) && !has(context.data.user.age)", { data }), true);
  assert.equal(value("!has(context.data.outsider)", { data }), true);
  faultOf("has(context.data.text.name)", { data });
  faultOf("has(context.data.list.name)", { data });
});

test("a pattern of the context is checked when it is used, and takes linear time", () => {
  const text = `${"a".repeat(50_000)}b`;
  const rule = "context.data.text.matches(context.data.pattern)";
  assert.equal(value(rule, { data: { text, pattern: "^(a+)+$" } }), false);
  assert.match(faultOf(rule, { data: { text, pattern: "(a" } }), /is not a pattern of RE2/);
  assert.match(faultOf(rule, { data: { text, pattern: text } }), /^a pattern has at most 1000/);
  assert.match(faultOf(rule, { data: { text, pattern: 1 } }), /^no such overload: string.matches/);
});

test("keys of JavaScript's own objects are not keys of the context", () => {
  for (const key of ["constructor", "toString", "__proto__"]) {
    assert.equal(value(`has(context.data.${key === "__proto__" ? "proto" : key})`), false);
    assert.equal(value(`'${key}' in context.data`), false);
  }
  const data: { readonly [key: string]: JsonValue } = JSON.parse('{"__proto__": 1}');
  assert.equal(value("context.data['__proto__'] == 1", { data }), true);
});

test("a long sum is evaluated, not run out of stack", () => {
  const sum = Array.from({ length: 900 }, () => "1").join(" + ");
  assert.equal(value(`${sum} == 900`), true);
});

test("a bare flag of the context must be a boolean", () => {
  assert.equal(value("context.data.flag", { data: { flag: true } }), true);
  assert.match(faultOf("context.data.flag", { data: { flag: "true" } }), /not a boolean$/);
  assert.match(faultOf("!context.data.flag", { data: { flag: 1 } }), /^expected a boolean/);
  assert.equal(value("context.data.flag && false", { data: { flag: 1 } }), false);
});

test("parameters have the types that the rule declares", () => {
  const parameters = {
    age: { type: "integer", data: -2_147_483_648 },
    rates: { type: "double[]", data: [0.5, Number.NaN] },
    names: { type: "string[]", data: ["a"] },
  } as const;
  assert.equal(value("age * 2 == -4294967296", { parameters }), true);
  assert.equal(value("rates[0] == 0.5 && !(rates[1] in rates)", { parameters }), true);
  assert.equal(value("'a' in names && names[0] == 'a' && size(names) == 1", { parameters }), true);
});

test("a stored value of another type is a fault", () => {
  const outcome = compileCondition("age > 1", new Map([["age", "integer"]]));
  assert.ok(outcome.ok);
  const parameters = new Map<string, AttributeValue>([["age", { type: "string", data: "2" }]]);
  const verdict = evaluateCondition(outcome.condition, { parameters, data: {} });
  assert.deepEqual(verdict, { kind: "fault", message: "expected integer, found string in `age`" });
});

test("nested comprehensions stop at a bound instead of running on", () => {
  const list = Array.from({ length: 3_000 }, (_, index) => index);
  const text = "context.data.list.all(x, context.data.list.all(y, x + y >= 0.0))";
  assert.match(faultOf(text, { data: { list } }), /^the rule takes too many steps/);
});

test("work inside of a comprehension counts, for every operation", () => {
  const list = Array.from({ length: 2_000 }, (_, index) => index);
  const text = "x".repeat(1_000_000);
  for (const rule of [
    "context.data.list.all(x, x in context.data.list)",
    "context.data.list.all(x, context.data.list == context.data.other)",
    "context.data.list.all(x, context.data.list.size() > 0)",
    "context.data.list.all(x, (context.data.text + context.data.text).contains('a') || true)",
  ]) {
    const data = { list, other: [...list], text };
    assert.match(faultOf(rule, { data }), /^the rule takes too many steps/, rule);
  }
});

test("a rule that takes long yields, also where nothing of it is long", () => {
  const list = Array.from({ length: 300 }, (_, index) => index);
  const text = "x".repeat(100_000);
  for (const rule of [
    "context.data.list.all(x, context.data.list.all(y, x + y >= 0.0))",
    "context.data.list.map(x, x + 1.0).filter(x, x > 0.0).exists_one(x, x == 1.0)",
    Array.from({ length: 50 }, () => "size(context.data.text) > 1").join(" && "),
    Array.from({ length: 50 }, () => "context.data.list == context.data.other").join(" && "),
    "(context.data.long + context.data.long).contains(context.data.long + 'a')",
  ]) {
    const outcome = compileCondition(rule, new Map());
    assert.ok(outcome.ok, rule);
    const data = { list, other: [...list], text, long: text.repeat(5) };
    const steps = outcome.condition.evaluate({ parameters: new Map(), data }, new Pace());
    assert.ok([...steps].length >= 8, rule);
  }
});

test("short evaluations that share a pace yield as one long one does", () => {
  const outcome = compileCondition("context.data.x > 1.0", new Map());
  assert.ok(outcome.ok);
  const pace = new Pace();
  const input = { parameters: new Map(), data: { x: 2 } };
  const each = Array.from({ length: 1_000 }, () => [...outcome.condition.evaluate(input, pace)]);
  assert.ok(each.flat().length >= 8);
});

test("what is put together outside of a comprehension counts as well", () => {
  const list = Array.from({ length: 10_000 }, (_, index) => index);
  const text = "x".repeat(1_000_000);
  const sum = (part: string): string => Array.from({ length: 100 }, () => part).join(" + ");
  for (const rule of [
    `size(${sum("context.data.list")}) > 1`,
    `size(${sum("context.data.text")}) > 1`,
    `size(${sum("bytes(context.data.text)")}) > 1`,
  ]) {
    assert.match(faultOf(rule, { data: { list, text } }), /^the rule takes too many steps/, rule);
  }
  assert.equal(
    value("size(context.data.list + context.data.list) == 20000", { data: { list } }),
    true,
  );
});

test("a list that holds another one many times is compared within the bound", () => {
  let list = "context.data.list";
  for (let level = 0; level < 28; level++) list = `[${list}].map(x, [x, x])[0]`;
  const data = { list: [1] };
  assert.match(faultOf(`${list} == ${list}`, { data }), /^the rule takes too many steps/);
  assert.match(faultOf(`${list} in [${list}]`, { data }), /^the rule takes too many steps/);
});

test("a pattern with many parts is refused, and so is a text that is long for its pattern", () => {
  const repeats = "((a{1000}|b{1000})*)".repeat(25);
  const matches = "context.data.text.matches(context.data.pattern)";
  const manyParts = { data: { text: "a", pattern: repeats } };
  assert.match(faultOf(matches, manyParts), /more than 2000 parts with its repeats written out/);
  const outcome = compileCondition(`"a".matches("${repeats}")`, new Map());
  assert.match(outcome.ok ? "" : outcome.message, /more than 2000 parts/);
  const longText = { data: { text: "ab".repeat(5_000), pattern: "(a{300}|b{300})*c" } };
  assert.match(faultOf(matches, longText), /^a text of 10000 characters is too long/);
  const fits = { data: { text: "ab".repeat(5_000), pattern: "(a|b)*c" } };
  assert.equal(value(matches, fits), false);
});

test("a long text is searched in time that does not grow with the length of the part", () => {
  const contains = "context.data.text.contains(context.data.part)";
  const text = "a".repeat(2_000_000);
  const half = "a".repeat(500_000);
  for (const [part, isContained] of [
    [`${half}b${half}`, false],
    [`b${half}${half}`, false],
    [`${half}${half}b`, false],
    [`${half}${half}`, true],
    [`${text}a`, false],
  ] as const) {
    assert.equal(value(contains, { data: { text, part } }), isContained);
    assert.equal(value(contains, { data: { text: `${text}${part}${text}`, part } }), true);
  }
});

test("long texts are searched as short ones", () => {
  const letters = fc.string({
    unit: fc.constantFrom("a", "b"),
    minLength: 2_000,
    maxLength: 3_000,
  });
  const property = fc.property(
    letters,
    letters,
    fc.nat(3_000),
    fc.nat(40),
    (text, other, at, size) => {
      const parts = [text.slice(at, at + 10 + size), other.slice(at, at + 10 + size)];
      for (const part of parts) {
        const found = value("context.data.text.contains(context.data.part)", {
          data: { text, part },
        });
        assert.equal(found, text.includes(part));
      }
    },
  );
  fc.assert(property, { numRuns: 200 });
});

test("a pattern counts with its classes that take long", () => {
  const folded = `(?i)[${"B-\u{1e000}".repeat(240)}]`;
  const tables = `[${"\\pL".repeat(300)}]`;
  for (const pattern of [folded, tables]) {
    const data = { text: "a", pattern };
    assert.match(
      faultOf("context.data.text.matches(context.data.pattern)", { data }),
      /2000 parts/,
    );
  }
});

test("the patterns of a rule have a bound together", () => {
  const part = (nth: number): string => `"a".matches("((abc){25}){19}${nth}")`;
  const few = Array.from({ length: 5 }, (_, nth) => part(nth));
  assert.equal(value(few.join(" || ")), false);
  const outcome = compileCondition([...few, part(5)].join(" || "), new Map());
  assert.equal(
    outcome.ok ? "" : outcome.message,
    "the patterns of a rule have at most 10,000 parts in all",
  );
});

test("to compile patterns and to match them are steps of a rule", () => {
  const patterns = Array.from({ length: 20 }, (_, nth) => `((abc){25}){19}${nth}`);
  const rule = "context.data.patterns.exists(p, context.data.text.matches(p))";
  const tooMany = /^the rule takes too many steps/;
  assert.match(faultOf(rule, { data: { patterns, text: "a" } }), tooMany);
  assert.match(
    faultOf(rule, { data: { patterns: patterns.map(() => "b{1000}"), text: "a".repeat(900) } }),
    tooMany,
  );
  assert.equal(
    value(rule, { data: { patterns: patterns.map(() => "b{1000}"), text: "a" } }),
    false,
  );
});

test("values of the context that are nested without end do not break the evaluation", () => {
  const nested = (): JsonValue => {
    let json: JsonValue = 1;
    for (let depth = 0; depth < 100_000; depth++) json = [json];
    return json;
  };
  const data = { a: nested(), b: nested() };
  assert.equal(value("size(context.data.a) == 1 && context.data.a[0] != 1", { data }), true);
  assert.match(faultOf("context.data.a == context.data.b", { data }), /^the values are nested/);
});

test("a comprehension's variable hides a parameter of the same name", () => {
  const parameters = { x: { type: "integer", data: 7 } } as const;
  assert.equal(value("[1, 2].exists(x, x == 2) && x == 7", { parameters }), true);
});

test("defaults are false, empty text, zero and empty lists", () => {
  assert.deepEqual(defaultValue("boolean"), { type: "boolean", data: false });
  assert.deepEqual(defaultValue("string"), { type: "string", data: "" });
  assert.deepEqual(defaultValue("integer"), { type: "integer", data: 0 });
  assert.deepEqual(defaultValue("double[]"), { type: "double[]", data: [] });
});
