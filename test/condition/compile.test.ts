import assert from "node:assert/strict";
import { test } from "node:test";

import type { AttributeType } from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";

const parameters: ReadonlyMap<string, AttributeType> = new Map<string, AttributeType>([
  ["flag", "boolean"],
  ["age", "integer"],
  ["rate", "double"],
  ["name", "string"],
  ["tags", "string[]"],
]);

function refusal(text: string): { readonly offset: number; readonly message: string } {
  const outcome = compileCondition(text, parameters);
  assert.ok(!outcome.ok, `\`${text}\` compiles`);
  return { offset: outcome.offset, message: outcome.message };
}

const accepted = [
  "flag",
  "context.data.flag",
  "context['data'].age > age",
  "age >= 18 && rate * 2.0 < 1.5 || name in tags",
  "context.data.age > 18 && context.data.age < 65.5",
  "has(context.data.user.name) && context.data.user.name.startsWith('a')",
  "tags.exists(tag, tag == name) && tags.all(tag, size(tag) < 9)",
  "{'a': 1, 'b': 2}.map(key, key).size() == 2",
  "timestamp('2024-02-29T00:00:00Z') + duration('1h') > timestamp(0)",
  "-9223372036854775808 < age",
  "name == 'it\\'s' // a comment",
  "type(age) == int",
  "b'a' < b'b'",
  "string(timestamp(context.data.at)).startsWith('2024')",
  "[1, 'a', true].size() == 3",
  "name.matches('^a+$') || matches(name, context.data.pattern)",
];

for (const text of accepted) {
  test(`\`${text}\` compiles`, () => {
    assert.deepEqual(compileCondition(text, parameters).ok, true);
  });
}

test("the text of a rule has a limit of characters", () => {
  const long = (length: number): string => `name == '${"a".repeat(length - 10)}'`;
  assert.equal(long(100_000).length, 100_000);
  assert.ok(compileCondition(long(100_000), parameters).ok);
  const refusalOfLong = { offset: 0, message: "a rule has at most 100,000 characters" };
  assert.deepEqual(refusal(long(100_001)), refusalOfLong);
  assert.deepEqual(refusal(`flag //${"a".repeat(100_000)}`), refusalOfLong);
});

const refused: readonly (readonly [text: string, offset: number, message: RegExp])[] = [
  ["age", 0, /^a rule must be a boolean, this is int$/],
  ["age > ", 6, /^found the end of the rule, expected a value$/],
  ["(age > 1", 8, /^expected `\)`, found the end of the rule$/],
  ["age > 1 ? flag", 14, /^expected `:`, found the end of the rule$/],
  ["flag && }", 8, /^unexpected `}`$/],
  ["age = 1", 4, /^`=` is no operator of rules: write `==`$/],
  ["flag & flag", 5, /^`&` is no operator of rules: write `&&`$/],
  ["flag | flag", 5, /^`\|` is no operator of rules: write `\|\|`$/],
  ["flag and flag", 5, /^`and` is no operator of rules: write `&&`$/],
  ["flag or flag", 5, /^`or` is no operator of rules: write `\|\|`$/],
  ["not flag", 4, /^`not` is no operator of rules: write `!`$/],
  ["rate == 1e", 9, /^unexpected/],
  ["sum(age)", 0, /^no such overload: sum\(int\)$/],
  ["tags.all(tag, tag)", 14, /^the condition of `all` must be a boolean, this is string$/],
  ["age > 1 2", 8, /^unexpected/],
  ["", 0, /^found the end of the rule, expected a value$/],
  ["name == 'abc", 8, /^the string is not closed$/],
  ["age == 1 && other", 12, /^unknown name `other`: a rule sees its parameters/],
  ["age == rate", 0, /^no such overload: int == double$/],
  ["age < rate", 0, /^no such overload: int < double$/],
  ["name == 1", 0, /^no such overload: string == int$/],
  ["context.tuples.size() == 0", 8, /^unknown field `tuples`/],
  ["context == context", 0, /./],
  ["size(context) == 1", 0, /./],
  ["timestamp(0) < now()", 15, /^`now`: a rule has no clock, send the time in `context\.data`/],
  ["age < now", 6, /^`now`: a rule has no clock, send the time in `context\.data`/],
  ["today() == name", 0, /^`today`: a rule has no clock/],
  ["name.lowerAscii() == 'a'", 0, /^unknown method `lowerAscii`$/],
  ["tags.join(',') == 'a'", 0, /^unknown method `join`$/],
  ["cel.bind(x, 1, x == 1)", 0, /^unknown/],
  ["google.protobuf == null", 0, /^unknown name `google`/],
  ["flag || 1u == 1u", 8, /^unsigned integers are not supported$/],
  ["uint(1) == uint(1)", 0, /^unsigned integers are not supported$/],
  ["flag && name.matches('(a')", 21, /^`\(a` is not a pattern of RE2: missing closing \)/],
  ["matches(name, '(?=a)')", 14, /is not a pattern of RE2/],
  ["9223372036854775808 > 0", 0, /^the integer `9223372036854775808` does not fit 64 bits$/],
  ["has(tags)", 4, /./],
  ["has(name.first)", 4, /^`has` needs a map, this is string$/],
  ["name.first == 'a'", 5, /./],
  ["flag ? 1 : name", 0, /^ternary branches must have the same type/],
  ["[].all(e, e > 0)", 0, /^the types of this cannot be inferred$/],
  ["b'ÿ' == b'a'", 0, /^bytes beyond ASCII must be escaped/],
  ["context.data.`a b` == 1", 13, /^names in backticks are not supported/],
  ["has(context.data.list[0].name)", 4, /^`has` takes a path of fields/],
  ["tags.all(1, true)", 9, /^`1` cannot name a variable$/],
  ["google.protobuf.Any == int", 0, /^unknown name `google`/],
  ["if == 1", 0, /^`if` is a reserved word$/],
];

for (const [text, offset, message] of refused) {
  test(`\`${text}\` is refused with its place`, () => {
    const found = refusal(text);
    assert.match(found.message, message);
    assert.equal(found.offset, offset);
  });
}

test("a parameter cannot have a name of the expression language", () => {
  for (const name of ["context", "int", "type", "if"]) {
    const outcome = compileCondition("true", new Map([[name, "boolean"]]));
    assert.ok(!outcome.ok);
    assert.match(outcome.message, new RegExp(`\`${name}\` is taken`));
  }
});

test("a rule that is too large or too deep is refused, not run out of stack", () => {
  const texts = [
    Array.from({ length: 2_000 }, () => "flag").join(" && "),
    `${"(".repeat(1_000)}flag${")".repeat(1_000)}`,
    `${"!".repeat(90_000)}flag`,
    `name in [${Array.from({ length: 1_500 }, (_, index) => `'${index}'`).join(", ")}]`,
  ];
  for (const text of texts) assert.match(refusal(text).message, /^(more than|nested deeper)/);
});

test("a long chain of one operator is one node", () => {
  const text = Array.from({ length: 450 }, (_, index) => `age != ${index + 1}`).join(" && ");
  const outcome = compileCondition(text, parameters);
  assert.ok(outcome.ok);
  const { tree } = outcome.condition;
  assert.equal(tree.kind === "logical" && tree.operands.length, 450);
});

test("messages hold no position and begin in lower case", () => {
  for (const [text] of refused) {
    assert.match(refusal(text).message, /^[`a-z]/);
    assert.doesNotMatch(refusal(text).message, /\n|\.$/);
  }
});
