import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { formatSchemaText, formatSchemaTextSteps } from "../../src/authoring/format/format.ts";
import { wordsOf } from "../../src/authoring/format/word.ts";
import { PembaError } from "../../src/base/error.ts";
import { runThrough } from "../../src/base/steps.ts";
import { commentsIn } from "../../src/language/comment.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { parseSchema, parseSchemaSteps } from "../../src/language/parse.ts";
import { schemaShape, schemaSketch } from "../differential/generate-schema.ts";
import { laidOut, schemas } from "../language/arbitrary-schema.ts";
import { type Shape, shapeOf } from "../language/shape.ts";

/** The comments outside the bodies of rules, without the blanks at the end of their lines. */
function commentsOf(text: string): readonly string[] {
  const { source } = parseSchema(text);
  return [...commentsIn(source.text)].map(({ start, end }) =>
    source.text.slice(start, end).trimEnd(),
  );
}

/** A shape without what formatting may change in the bodies of rules: blanks around line breaks. */
function withoutIndent(shape: Shape): Shape {
  if (typeof shape === "string") return shape;
  const [kind, name, parameters, body] = shape;
  return kind === "rule" && typeof body === "string"
    ? ["rule", name ?? "", parameters ?? "", body.trim().replaceAll(/[ \t]*(\r\n|\n)[ \t]*/g, "\n")]
    : shape;
}

/** A blank stands in each, so that words do not run into each other. */
const gaps = [
  " ",
  " ",
  "\n",
  "\r\n\r\n\r\n",
  " // a line, it's \n",
  "\n// own line }\n",
  " /* inside */ ",
  "\n\n  /* of two\n  lines */\n",
  "\n/* before */ ",
];

const random = laidOut(schemas);
const runs = { numRuns: 500 };

test("formatting keeps the tree and every comment in its order", () => {
  fc.assert(
    fc.property(random, ({ shape, text }) => {
      const formatted = formatSchemaText(text);
      assert.deepEqual(
        shapeOf(parseSchema(formatted)).map(withoutIndent),
        shape.map(withoutIndent),
      );
      assert.deepEqual(commentsOf(formatted), commentsOf(text));
    }),
    runs,
  );
});

/** Schemas that compile, with blanks and comments between their words. */
const commented = fc
  .record({ sketch: schemaSketch, gaps: fc.array(fc.constantFrom(...gaps), { minLength: 1 }) })
  .map(({ sketch, gaps: drawn }) => {
    const words = runThrough(wordsOf(parseSchema(schemaShape(sketch, false).text)));
    return words
      .map(({ kind, text }, index) => {
        const isBody = kind === "BODY" || words[index - 1]?.kind === "BODY";
        return isBody ? text : `${drawn[index % drawn.length]}${text}`;
      })
      .join("");
  });

/** A compiled schema without the places and the blanks of its conditions. */
function meaningOf(text: string): unknown {
  const { entities, rules } = compileSchemaText(text);
  return JSON.parse(
    JSON.stringify(
      [
        [...entities.values()].map((entity) => ({
          ...entity,
          relations: [...entity.relations],
          attributes: [...entity.attributes],
          permissions: [...entity.permissions],
        })),
        [...rules.values()].map(({ name, parameters, condition }) => [
          name,
          [...parameters],
          condition.tree,
        ]),
      ],
      (key, value: unknown) =>
        key === "start" || key === "end" ? 0 : typeof value === "bigint" ? `${value}n` : value,
    ),
  );
}

test("formatting keeps what a schema compiles to", () => {
  fc.assert(
    fc.property(commented, (text) => {
      const formatted = formatSchemaText(text);
      assert.deepEqual(meaningOf(formatted), meaningOf(text));
      assert.deepEqual(commentsOf(formatted), commentsOf(text));
      assert.equal(formatSchemaText(formatted), formatted);
    }),
    { numRuns: 200 },
  );
});

test("what is formatted stays as it is", () => {
  fc.assert(
    fc.property(random, ({ text }) => {
      const formatted = formatSchemaText(text);
      assert.equal(formatSchemaText(formatted), formatted);
    }),
    runs,
  );
});

test("formatting has one statement a line, indented, with a line break at the end", () => {
  assert.equal(
    formatSchemaText(
      "entity user{}entity  team {relation member @user@team # member;attribute size integer [ ]\naction see=(member)and fits( size,size )or a . b}rule fits(size integer [],other string){ size==3 }",
    ),
    `entity user {}

entity team {
  relation member @user @team#member
  attribute size integer[]
  action see = (member) and fits(size, size) or a.b
}

rule fits(size integer[], other string) { size==3 }
`,
  );
});

test("comments stay where they are: at the end of a line, above it, and inside it", () => {
  const text = `// The head.

/* users */ entity user {} // all of them
// Stands alone.

entity team { // open
    // Above.
  relation member @user // who
    /* above, too */
  relation lead /* one */ @user /* or more */ relation boss @user


  // In the end.

}
// After.`;
  assert.equal(
    formatSchemaText(text),
    `// The head.

/* users */ entity user {} // all of them

// Stands alone.

entity team { // open
  // Above.
  relation member @user // who
  /* above, too */
  relation lead /* one */ @user /* or more */
  relation boss @user

  // In the end.
}

// After.
`.replace("}\n\n// After.", "}\n// After."),
  );
});

test("at most one blank line stays, none at braces, and one stands between statements", () => {
  const text = `

entity user {}
entity robot {}


entity team {

  relation member @user


  relation lead @user

}
entity group {
  relation member @user
}
`;
  assert.equal(
    formatSchemaText(text),
    `entity user {}
entity robot {}

entity team {
  relation member @user

  relation lead @user
}

entity group {
  relation member @user
}
`,
  );
});

test("an expression that is too long for a line is broken behind its operators", () => {
  const long = Array.from({ length: 8 }, () => "organization.administrator").join(" or ");
  const text = `entity e { permission p = ${long} permission q = owner and (${long}) not x permission r = a or b }`;
  const broken = (indent: string): string =>
    Array.from({ length: 8 }, () => "organization.administrator").join(` or\n${indent}`);
  assert.equal(
    formatSchemaText(text),
    `entity e {
  permission p =
    ${broken("    ")}
  permission q =
    owner and
    (${broken("      ")}) not
    x
  permission r = a or b
}
`,
  );
});

test("a line of 100 characters stays, one of 101 is broken", () => {
  const member = (length: number): string =>
    `  permission view = ${"a".repeat(40)} or ${"b".repeat(length - 64)}`;
  const stays = `entity e {\n${member(100)}\n}\n`;
  assert.equal(member(100).length, 100);
  assert.equal(formatSchemaText(stays), stays);
  assert.match(formatSchemaText(`entity e {\n${member(101)}\n}\n`), /view =\n {4}a+ or\n {4}b+\n/);
});

test("a comment in an expression breaks it", () => {
  assert.equal(
    formatSchemaText(
      "entity e { permission p = a or // first\nb or\n// second\nc /* third */ and d }",
    ),
    `entity e {
  permission p =
    a or // first
    b or
    // second
    c /* third */ and
    d
}
`,
  );
});

test("the body of a rule keeps its lines and their indentation to each other", () => {
  const text = `rule a(x integer) {
      x > 1 &&
        x < 5   

      // why
      || x == 7 }
rule b(x integer) {   x > 1   }
rule c(s string) { s ==
\t'''one
      two  
''' /* a
   b */ && true
}
rule d(x integer) {}`;
  assert.equal(
    formatSchemaText(text),
    `rule a(x integer) {
  x > 1 &&
    x < 5

  // why
  || x == 7
}

rule b(x integer) { x > 1 }

rule c(s string) {
  s ==
  '''one
      two  
''' /* a
   b */ && true
}

rule d(x integer) {}
`,
  );
});

test("line breaks of other systems, a byte order mark and a missing last line break are mended", () => {
  const text =
    "entity user {}\nentity e {\n  relation a @user // x\n  /* y\n  z */\n  relation b @user\n}\n";
  for (const other of [
    text.replaceAll("\n", "\r\n"),
    text.replaceAll("\n", "\r"),
    `\uFEFF${text}`,
    text.trimEnd(),
    `${text}\n\n  `,
  ]) {
    assert.equal(formatSchemaText(other), text.replace("{}\nentity", "{}\n\nentity"));
  }
});

test("a text of blanks becomes empty, and a comment alone stays", () => {
  assert.equal(formatSchemaText(" \n\n"), "");
  assert.equal(formatSchemaText("\n// alone"), "// alone\n");
});

test("a text with syntax errors is refused with its positions", () => {
  assert.throws(
    () => formatSchemaText("entity user {}\nentity e { relation a user }"),
    (error: unknown) =>
      error instanceof PembaError && error.code === "SCHEMA_PARSE" && error.details[0]?.line === 2,
  );
});

test("a long schema is formatted in a moment, however its parentheses nest", () => {
  const nested = `entity e { permission p = ${"(".repeat(900)}a${" or b)".repeat(900)} }`;
  const wide = `entity e { permission p = ${"a or ".repeat(20_000)}a }`;
  for (const text of [nested, wide]) {
    const formatted = formatSchemaText(text);
    assert.equal(formatSchemaText(formatted), formatted);
  }
});

/** Texts of which one part is about as long as an editor reads. Each part is gone through so often when it is laid out. */
const longParts: readonly (readonly [name: string, text: string, parts: number, times: number])[] =
  [
    ["lines of a body", `rule r() {\n${"  1 == 1 &&\n".repeat(20_000)}  true\n}`, 20_000, 3],
    ["comments", `entity user {}\n${"/**/\n".repeat(50_000)}entity e {}`, 50_000, 4],
    ["comments in a line", `entity user {} ${"/**/".repeat(50_000)} entity e {}`, 50_000, 4],
    ["types of a relation", `entity e { relation r ${"@e ".repeat(40_000)}}`, 40_000, 8],
    ["operands", `entity e { permission p = ${"a or ".repeat(20_000)}a }`, 20_000, 7],
    ["arguments", `entity e { permission p = r(${"a, ".repeat(40_000)}a) }`, 40_000, 8],
    ["parameters", `rule r(${"a string, ".repeat(40_000)}a string) { true }`, 40_000, 12],
    ["operands deep inside", deepInside("a or ".repeat(20_000)), 20_000, 7],
  ];

function deepInside(operands: string): string {
  return `entity e { permission p = ${"(".repeat(900)}${operands}a${")".repeat(900)} }`;
}

for (const [name, text, parts, times] of longParts) {
  test(`a text with many ${name} is laid out in steps, and grows little`, () => {
    let parsing = 0;
    for (const _ of parseSchemaSteps(text)) parsing += 1;
    const steps = formatSchemaTextSteps(text);
    let count = 0;
    let last = steps.next();
    for (; last.done !== true; last = steps.next()) count += 1;
    // A pause comes after 256 parts at most.
    assert.ok(count - parsing > (times * parts) / 300, `${count - parsing} steps`);
    assert.ok(last.value.length < 20 * text.length, `${last.value.length} characters`);
  });
}

test("blanks and line breaks are gone through once", () => {
  const body = `rule r() {${" ".repeat(100_000)}\n  true\n}`;
  assert.equal(formatSchemaText(body), "rule r() {\n  true\n}\n");
  const apart = `entity user {}${"\n".repeat(400_000)}entity e {}`;
  assert.equal(formatSchemaText(apart), "entity user {}\n\nentity e {}\n");
});

test("a long text is laid out in many steps", () => {
  const member = "  permission view = owner or viewer or parent.view\n";
  const text = `entity user {}\nentity document {\n${member.repeat(5_000)}}\n`;
  const words = text.match(/\w+|[{}=.]/g)?.length ?? 0;
  let steps = 0;
  for (const _ of formatSchemaTextSteps(text)) steps += 1;
  // It is parsed, split into words, laid out and written. Each of them pauses after some hundred words.
  assert.ok(steps > (3 * words) / 300, `${steps} steps for ${words} words`);
});
