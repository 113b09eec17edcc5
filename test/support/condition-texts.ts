import fc from "fast-check";

import { randomNumber, randomString } from "./condition-values.ts";
import { durationText, timestampText } from "./time-texts.ts";

function quoted(text: string): string {
  return JSON.stringify(text);
}

const template = (
  parts: TemplateStringsArray,
  ...holes: readonly fc.Arbitrary<string>[]
): fc.Arbitrary<string> =>
  fc
    .tuple(...holes)
    .map((filled) =>
      parts.reduce((text, part, index) => `${text}${part}${filled[index] ?? ""}`, ""),
    );

const arithmetic = fc.constantFrom("+", "-", "*", "/");
const ordering = fc.constantFrom("<", "<=", ">", ">=");
const equality = fc.constantFrom("==", "!=");
const comparison = fc.oneof(ordering, equality);

const intLiteral = fc
  .oneof(
    fc.constantFrom(0n, 1n, -1n, 2n, 7n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  )
  .map(String);
const smallIndex = fc.constantFrom("0", "1", "-1", "3", "9223372036854775807");
const doubleLiteral = randomNumber.map((value) => {
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
});
const patternLiteral = fc
  .constantFrom(
    "a",
    "^a",
    "b$",
    "^$",
    "^[0-9+-]+$",
    ".",
    "^.$",
    "é",
    "[^a]",
    "(a|b)+",
    "\\d{2,}",
    "^\\W+$",
  )
  .map((pattern) => JSON.stringify(pattern));
const durationPart = fc.constantFrom("getHours", "getMinutes", "getSeconds", "getMilliseconds");
const timestampPart = fc.oneof(
  durationPart,
  fc.constantFrom("getFullYear", "getMonth", "getDate"),
  fc.constantFrom("getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
);
const timestampLiteral = timestampText.map(quoted);
const durationLiteral = durationText.map(quoted);
const stringLiteral = randomString.map(quoted);

/** A random rule that compiles against `randomParameters`: well-typed parts and dyn ones, mixed. */
export const randomText: fc.Arbitrary<string> = fc.letrec<
  Record<"bool" | "int" | "double" | "string" | "timestamp" | "duration" | "dyn", string>
>((tie) => {
  const [b, i, d, s, j] = [tie("bool"), tie("int"), tie("double"), tie("string"), tie("dyn")];
  const [t, u] = [tie("timestamp"), tie("duration")];
  const any = fc.oneof(b, i, d, s, j, fc.constant("null"));
  const list = (element: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.array(element, { maxLength: 3 }).map((elements) => `[${elements.join(", ")}]`);
  return {
    bool: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 2, arbitrary: fc.constantFrom("flag", "true", "false") },
      template`(${b} && ${b})`,
      template`(${b} || ${b})`,
      template`(${j} && ${b})`,
      template`(${b} || ${j})`,
      template`!${b}`,
      template`!${j}`,
      template`(${b} ? ${b} : ${b})`,
      template`(${i} ${comparison} ${i})`,
      template`(${d} ${comparison} ${d})`,
      template`(${s} ${comparison} ${s})`,
      template`(${b} ${comparison} ${b})`,
      { weight: 2, arbitrary: template`(${t} ${comparison} ${t})` },
      { weight: 2, arbitrary: template`(${u} ${comparison} ${u})` },
      template`(${t} in ${list(t)})`,
      template`(${j} ${equality} ${fc.oneof(t, u)})`,
      template`(dyn(${t}) ${comparison} dyn(${u}))`,
      { weight: 3, arbitrary: template`(${j} ${comparison} ${fc.oneof(i, d, s)})` },
      template`(${fc.oneof(i, d, s)} ${comparison} ${j})`,
      { weight: 2, arbitrary: template`(${j} ${comparison} ${j})` },
      template`(${j} ${equality} ${fc.constantFrom("null", "true", "false")})`,
      template`(${j} in ${list(any)})`,
      template`(${i} in ${list(i)})`,
      template`(${s} in ${list(s)})`,
      template`(${s} in names)`,
      template`(${i} in ages)`,
      template`(${d} in rates)`,
      template`(${b} in flags)`,
      template`(${j} in ${fc.constantFrom("names", "ages", "rates", "flags")})`,
      { weight: 3, arbitrary: template`(${any} in ${j})` },
      template`has(${fc.constantFrom("context.data.a", "context.data.map", "context.data.a.b", "context.data.map.a.b")})`,
      template`${s}.${fc.constantFrom("contains", "startsWith", "endsWith")}(${s})`,
      template`${j}.${fc.constantFrom("contains", "startsWith", "endsWith")}(${fc.oneof(s, j)})`,
      template`flags[${smallIndex}]`,
      template`bool(${fc.oneof(s, j, b)})`,
      template`${fc.oneof(s, j)}.matches(${patternLiteral})`,
    ),
    int: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 2, arbitrary: fc.oneof(fc.constant("age"), intLiteral) },
      template`(${i} ${fc.oneof(arithmetic, fc.constant("%"))} ${i})`,
      template`-(${i})`,
      template`(${b} ? ${i} : ${i})`,
      template`size(${fc.oneof(s, j, fc.constantFrom("names", "ages", "context.data"))})`,
      template`ages[${smallIndex}]`,
      template`ages[${i}]`,
      template`int(${fc.oneof(i, d, s, j, t)})`,
      { weight: 2, arbitrary: template`${t}.${timestampPart}()` },
      template`${u}.${durationPart}()`,
    ),
    double: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 2, arbitrary: fc.oneof(fc.constant("rate"), doubleLiteral) },
      template`(${d} ${arithmetic} ${d})`,
      template`(${j} ${arithmetic} ${d})`,
      template`-(${d})`,
      template`(${b} ? ${d} : ${d})`,
      template`rates[${smallIndex}]`,
      template`double(${fc.oneof(i, d)})`,
    ),
    string: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 3, arbitrary: fc.oneof(fc.constant("name"), stringLiteral) },
      template`(${s} + ${s})`,
      template`(${j} + ${s})`,
      template`(${b} ? ${s} : ${s})`,
      template`names[${smallIndex}]`,
      template`string(${fc.oneof(i, s, b)})`,
    ),
    timestamp: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      {
        weight: 9,
        arbitrary: fc.constantFrom("timestamp(context.data.at)", "timestamp(age)"),
      },
      { weight: 5, arbitrary: template`timestamp(${timestampLiteral})` },
      template`timestamp(${fc.oneof(i, j, s, t)})`,
      { weight: 2, arbitrary: template`(${t} ${fc.constantFrom("+", "-")} ${u})` },
      template`(${b} ? ${t} : ${t})`,
    ),
    duration: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      {
        weight: 9,
        arbitrary: fc.constant("duration(context.data.span)"),
      },
      { weight: 5, arbitrary: template`duration(${durationLiteral})` },
      template`duration(${fc.oneof(j, s, u)})`,
      { weight: 2, arbitrary: template`(${t} - ${t})` },
      { weight: 2, arbitrary: template`(${u} ${fc.constantFrom("+", "-")} ${u})` },
      template`(${b} ? ${u} : ${u})`,
    ),
    dyn: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          "context.data.a",
          "context.data.b",
          "context.data.flag",
          "context.data.text",
          "context.data.number",
          "context.data.list",
          "context.data.map",
          "context.data.map.a",
          "context.data['b']",
        ),
      },
      template`context.data.list[${smallIndex}]`,
      template`context.data.a[${i}]`,
      template`context.data.map[${s}]`,
      template`(${b} ? ${j} : ${j})`,
      template`(${j} ${fc.constantFrom("-", "*", "/")} ${j})`,
      template`dyn(${fc.oneof(j, b, s)})`,
    ),
  };
}).bool;
