import type { AttributeType } from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";
import type { ConditionTree } from "../../src/condition/tree.ts";
import { translateCondition } from "../../src/sql/condition/translate.ts";
import { sql } from "../../src/sql/text/fragment.ts";

/** The parameters that the examples of the page name. */
const parameters: ReadonlyMap<string, AttributeType> = new Map<string, AttributeType>([
  ["flag", "boolean"],
  ["flags", "boolean[]"],
  ["name", "string"],
  ["names", "string[]"],
  ["age", "integer"],
  ["ages", "integer[]"],
  ["rate", "double"],
  ["rates", "double[]"],
]);

const durationPartNames = ["getHours", "getMinutes", "getSeconds", "getMilliseconds"];
const partNames = [
  "getFullYear",
  "getMonth",
  "getDate",
  "getDayOfMonth",
  "getDayOfWeek",
  "getDayOfYear",
  ...durationPartNames,
];

interface Feature {
  readonly what: string;
  readonly examples: readonly string[];
}

/** All that a rule can use; the test of the page sees to it that no function is left out. */
const features: readonly Feature[] = [
  {
    what: "values of parameters and of `context.data`, by field and by index",
    examples: ["flag && context.data.vip", "context.data['vip'] && flags[0]"],
  },
  { what: "`&&`, `\\|\\|`, `!`, `? :`", examples: ["!flag || (flag ? flags[0] : flag && true)"] },
  {
    what: "`==`, `!=` of booleans, numbers, strings, null, JSON",
    examples: ["age == 1 && rate != 1.5 && name == 'a' && context.data.x == null"],
  },
  { what: "`==`, `!=` of lists", examples: ["ages == [1, 2]"] },
  {
    what: "`<`, `<=`, `>`, `>=` of numbers, strings, booleans, JSON",
    examples: ["age < 1 || rate >= 1.5 || name > 'a' || flag <= true || context.data.x > age"],
  },
  { what: "`+`, `-`, `*`, `/`, `%` of integers", examples: ["-age + 1 - 2 * age / 3 % 4 == 0"] },
  { what: "`+`, `-`, `*`, `/` of doubles", examples: ["-rate + 1.0 - 2.0 * rate / 3.0 == 0.0"] },
  { what: "`+` of strings", examples: ["name + 'a' == 'ba'"] },
  { what: "`+` of lists", examples: ["size(ages + [1]) == 2"] },
  {
    what: "`in` a list, a parameter's or of elements",
    examples: ["name in names || age in [1, 2]"],
  },
  { what: "`in` JSON", examples: ["name in context.data.list"] },
  { what: "`in` a map of the rule", examples: ["name in {'a': 1}"] },
  { what: "`has`", examples: ["has(context.data.vip)"] },
  { what: "`size`", examples: ["size(name) > 1 && names.size() > 1 && size(context.data.x) > 1"] },
  {
    what: "`contains`, `startsWith`, `endsWith`",
    examples: ["name.contains('a') || name.startsWith('a') || name.endsWith('a')"],
  },
  {
    what: "`matches` with a pattern that stands in the rule: ASCII, `.`, classes, their repeats, groups, `\\|`, `^`, `$`",
    examples: ["name.matches('^team-[a-z0-9]+$')", "matches(name, '^(read|write)$')"],
  },
  {
    what: "`matches` with another pattern",
    examples: ["name.matches('(ab)+')", "name.matches(context.data.pattern)"],
  },
  {
    what: "`all`, `exists`, `exists_one`, `filter`, `map`",
    examples: [
      "ages.all(x, x > 0)",
      "ages.exists(x, x > 0)",
      "ages.exists_one(x, x > 0)",
      "size(ages.filter(x, x > 0)) > 0",
      "size(ages.map(x, x + 1)) > 0",
      "size(ages.map(x, x > 0, x + 1)) > 0",
    ],
  },
  {
    what: "`bool`, `int`, `dyn`; `double` of an integer, `string` of an integer or a boolean",
    examples: [
      "bool(name) || bool(context.data.x)",
      "int(name) == 1 && int(rate) == 1 && int(context.data.x) == 1",
      "dyn(age) == 1 && double(age) == 1.0 && string(age) == '1' && string(flag) == 'true'",
    ],
  },
  {
    what: "`double` of text, `string` of a double, `bytes`, `type`",
    examples: [
      "double(name) == 1.0",
      "double(context.data.x) == 1.0",
      "string(rate) == '1'",
      "string(context.data.x) == '1'",
      "bytes(name) == b'a'",
      "type(context.data.x) == int",
    ],
  },
  {
    what: "`timestamp` of text or an integer, `duration` of text, `int` of a timestamp",
    examples: [
      "timestamp(name) == timestamp(context.data.at) || timestamp(age) == timestamp(0)",
      "duration(name) == duration(context.data.span) || duration(name) == duration('1h30m')",
      "int(timestamp(name)) == age",
    ],
  },
  {
    what: "`+`, `-`, order of timestamps and durations",
    examples: [
      "timestamp(name) + duration('1h') - duration('1m') < timestamp('2024-01-01T00:00:00Z')",
      "timestamp(name) - timestamp(age) + duration('1h') - duration('1m') >= duration('2h')",
    ],
  },
  {
    what: `${partNames.map((name) => `\`${name}\``).join(", ")} in UTC`,
    examples: [
      ...partNames.map((name) => `timestamp(name).${name}() == 1`),
      ...durationPartNames.map((name) => `duration(name).${name}() == 1`),
    ],
  },
  {
    what: "the same in a time zone",
    examples: partNames.map((name) => `timestamp(name).${name}('Europe/Paris') == 1`),
  },
  {
    what: "`string` of a timestamp or a duration",
    examples: ["string(timestamp(name)) == 'a'", "string(duration(name)) == '1s'"],
  },
  { what: "lists, maps and bytes that a rule makes", examples: ["{'a': [b'x']}['a'][0] == b'x'"] },
];

/** The table of features, with where each is worked out. */
export function featureTable(): string {
  const rows = features.map(({ what, examples }) => {
    const kinds = new Set(examples.map(placeOf));
    if (kinds.size !== 1) throw new Error(`the examples of ${what} are of several kinds`);
    return `| ${what} | ${[...kinds].join("")} |`;
  });
  return ["| what | worked out |", "| --- | --- |", ...rows].join("\n");
}

/** The names of all functions and methods that the examples call. */
export function namesInExamples(): ReadonlySet<string> {
  const names = features.flatMap(({ examples }) =>
    examples.flatMap((text) => namesOf(treeOf(text))),
  );
  return new Set(names);
}

function placeOf(text: string): string {
  const translation = translateCondition(treeOf(text), {
    parameter: () => sql`p.value`,
    data: sql`d.data`,
  });
  return translation.kind === "sql" ? "in SQL" : "interpreted";
}

function treeOf(text: string): ConditionTree {
  const compiled = compileCondition(text, parameters);
  if (!compiled.ok) throw new Error(`\`${text}\`: ${compiled.message}`);
  return compiled.condition.tree;
}

function namesOf(tree: ConditionTree): readonly string[] {
  const parts = Object.values(tree).flatMap((part: unknown) =>
    Array.isArray(part) ? part : [part],
  );
  const inner = parts.filter(isTree).flatMap(namesOf);
  if (tree.kind === "call") return [tree.function, ...inner];
  return tree.kind === "method" ? [tree.method, ...inner] : inner;
}

function isTree(part: unknown): part is ConditionTree {
  return typeof part === "object" && part !== null && "kind" in part && "start" in part;
}

/** The table of gaps, from the cases by what a rule says to them. */
export function gapTable(gaps: Readonly<Record<string, readonly string[]>>): string {
  const rows = Object.entries(gaps)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([told, cases]) => `| ${told.replaceAll("|", "\\|")} | ${cases.length} |`);
  return ["| what is said to it | cases |", "| --- | --- |", ...rows].join("\n");
}
