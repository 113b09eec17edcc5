import fc from "fast-check";

import type { Shape } from "./shape.ts";

/** A schema as the tokens that spell it, and the shape that its tree must have. */
export interface Spelled {
  readonly shape: readonly Shape[];
  readonly tokens: readonly string[];
}

interface Part {
  readonly shape: Shape;
  readonly tokens: readonly string[];
}

interface Typed {
  readonly shape: readonly [name: string, type: string];
  readonly tokens: readonly string[];
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_".split("");
const keywords = new Set(
  "entity relation action permission attribute rule and or not in true false".split(" "),
);

const name = fc
  .string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 8 })
  .filter((text) => !keywords.has(text));

const path: fc.Arbitrary<Part> = fc
  .array(name, { minLength: 1, maxLength: 2 })
  .map((segments) => ({ shape: segments.join("."), tokens: separated(segments.map(one), ".") }));

const call: fc.Arbitrary<Part> = fc
  .tuple(name, fc.array(path, { maxLength: 3 }))
  .map(([rule, values]) => ({
    shape: ["call", rule, ...values.map(({ shape }) => shape)],
    tokens: [
      rule,
      "(",
      ...separated(
        values.map(({ tokens }) => tokens),
        ",",
      ),
      ")",
    ],
  }));

const operator = fc.constantFrom("or", "and", "not");

/** The left side goes without parentheses, with or without; the right side needs its own. */
const expression = fc.letrec<{ readonly expression: Part; readonly operation: Part }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5 },
    path,
    call,
    tie("operation"),
    tie("operation").map(grouped),
  ),
  operation: fc
    .tuple(tie("expression"), operator, tie("expression"))
    .map(([left, kind, right]) => ({
      shape: [kind, left.shape, right.shape],
      tokens: [...left.tokens, kind, ...(isOperation(right) ? grouped(right) : right).tokens],
    })),
})).expression;

const relation: fc.Arbitrary<Part> = fc
  .tuple(name, fc.array(fc.tuple(name, fc.option(name)), { minLength: 1, maxLength: 3 }))
  .map(([of, types]) => ({
    shape: ["relation", of, types.map(([type, on]) => (on === null ? [type] : [type, on]))],
    tokens: [
      "relation",
      of,
      ...types.flatMap(([type, on]) => ["@", type, ...(on === null ? [] : ["#", on])]),
    ],
  }));

const typed: fc.Arbitrary<Typed> = fc.tuple(name, name, fc.boolean()).map(([of, type, list]) => ({
  shape: [of, list ? `${type}[]` : type],
  tokens: [of, type, ...(list ? ["[", "]"] : [])],
}));

const attribute: fc.Arbitrary<Part> = typed.map(({ shape, tokens }) => ({
  shape: ["attribute", ...shape],
  tokens: ["attribute", ...tokens],
}));

const permission: fc.Arbitrary<Part> = fc
  .tuple(fc.constantFrom("permission", "action"), name, expression)
  .map(([keyword, of, { shape, tokens }]) => ({
    shape: ["permission", of, shape],
    tokens: [keyword, of, "=", ...tokens],
  }));

const entity: fc.Arbitrary<Part> = fc
  .tuple(name, fc.array(fc.oneof(relation, attribute, permission), { maxLength: 5 }))
  .map(([of, members]) => ({
    shape: ["entity", of, members.map(({ shape }) => shape)],
    tokens: ["entity", of, "{", ...members.flatMap(({ tokens }) => tokens), "}"],
  }));

const bodyPart = fc.constantFrom(
  " ",
  "\n",
  "level > 3",
  "{'a': {'b': 1}}",
  "'}'",
  `"{"`,
  `'\\'}'`,
  "r'\\'",
  `'''it's }'''`,
  "// }\n",
  "/* } */",
  "é",
);

const rule: fc.Arbitrary<Part> = fc
  .tuple(name, fc.array(typed, { maxLength: 3 }), fc.array(bodyPart, { maxLength: 6 }))
  .map(([of, parameters, parts]) => {
    // A blank between the parts keeps them what they are: `''` and `'}'` together open a triple.
    const body = parts.join(" ");
    return {
      shape: ["rule", of, parameters.map(({ shape }) => shape), body],
      tokens: [
        "rule",
        of,
        "(",
        ...separated(
          parameters.map(({ tokens }) => tokens),
          ",",
        ),
        ")",
        `{${body}}`,
      ],
    };
  });

/** Schemas that parse; whether their names mean anything is left open. */
export const schemas: fc.Arbitrary<Spelled> = fc
  .array(fc.oneof(entity, rule), { maxLength: 4 })
  .map((parts) => ({
    shape: parts.map(({ shape }) => shape),
    tokens: parts.flatMap(({ tokens }) => tokens),
  }));

/** Tokens of the language, and some that are not, in any order. */
export const tokenSoup: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...keywords,
        ..."entity { } ( ) [ ] @ # . , = : ; + - * / ' \" \\ $ é 7".split(" "),
      ),
      fc.constantFrom(
        "entity e {",
        "rule r(",
        "permission p =",
        "relation r @e",
        ") {",
        "/*",
        "*/",
      ),
      name,
    ),
    { maxLength: 30 },
  )
  .map((tokens) => tokens.join(" "));

/** The tokens written with some blank, line break, comment or, where it may be, nothing between. */
export function laidOut(
  spelled: fc.Arbitrary<Spelled>,
): fc.Arbitrary<{ readonly shape: readonly Shape[]; readonly text: string }> {
  const gap = fc.constantFrom(
    "",
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "\\n",
    " // o'c }\n",
    "/* { */",
  );
  return spelled.chain(({ shape, tokens }) =>
    fc.array(gap, { minLength: tokens.length + 1, maxLength: tokens.length + 1 }).map((gaps) => ({
      shape,
      text: gaps.map((blank, index) => join(blank, tokens[index - 1], tokens[index])).join(""),
    })),
  );
}

/** The gap that was chosen, or a blank where two words would run into one; then the next token. */
function join(gap: string, previous = "", next = ""): string {
  const words = /\w$/.test(previous) && /^\w/.test(next);
  return `${gap === "" && words ? " " : gap}${next}`;
}

function isOperation({ shape }: Part): boolean {
  return typeof shape !== "string" && shape[0] !== "call";
}

function grouped({ shape, tokens }: Part): Part {
  return { shape, tokens: ["(", ...tokens, ")"] };
}

function one(token: string): readonly string[] {
  return [token];
}

function separated(parts: readonly (readonly string[])[], separator: string): readonly string[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [separator, ...part]));
}
