import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { attributeTypes } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { lintSchema } from "../../src/language/lint.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { keywords } from "../../src/language/token.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { play } from "../scenarios/scene.ts";
import { type Example, examplesOfPage, textOfPage } from "./language-page.ts";

const examples = examplesOfPage("language.md");

let started: Engines;
before(async () => {
  started = await startEngines();
});
after(() => started.stop());

for (const example of examples) {
  test(`docs/language.md:${example.line}: the schema ${example.marked}`, () => {
    assert.deepEqual(judge(example.schema), {
      error: example.marked === "refused" ? example.error : undefined,
      warnings: example.marked === "warned" ? example.warnings : "",
    });
  });
  if (example.checks.length === 0) continue;
  play(() => started, `docs/language.md:${example.line}`, {
    schema: example.schema,
    facts: example.facts,
    questions: example.checks,
  });
}

test("docs/language.md shows every construct, and asks every answer of it", () => {
  const shown = examples.filter(({ marked }) => marked !== "refused").map(({ schema }) => schema);
  const unused = [...keywords.keys()]
    // `in`, `true` and `false` are words of rules only.
    .filter((word) => !["in", "true", "false"].includes(word))
    .filter((word) => !shown.some((schema) => new RegExp(`\\b${word}\\b`).test(schema)));
  assert.deepEqual(unused, []);
  const constructs = [/@\w+#\w+/, /\w\.\w+/, /\w\(\w+, \w+\)/, /\/\//, /\/\*/, /\[\]/, /\(/];
  for (const construct of constructs) assert.ok(shown.some((schema) => construct.test(schema)));
  const answers = new Set(examples.flatMap(({ checks }) => checks.map(({ answer }) => answer)));
  assert.deepEqual([...answers].toSorted(), ["RULE_EVALUATION", "allowed", "denied"]);
});

test("docs/language.md has the default of every attribute type", () => {
  const rows = [...textOfPage("language.md").matchAll(/^\| `(?<type>\w+)` +\|/gm)].map(
    ({ groups }) => groups?.["type"],
  );
  const plain = attributeTypes.filter((type) => !type.endsWith("[]"));
  assert.deepEqual(
    plain.filter((type) => !rows.includes(type)),
    [],
  );
});

/** What the compiler says of a schema, as the page shows it. */
function judge(schema: string): Pick<Example, "error" | "warnings"> {
  try {
    compileSchemaText(schema);
  } catch (error) {
    assert.ok(error instanceof PembaError);
    return { error: error.message.replace(/^ERROR_CODE_/, ""), warnings: "" };
  }
  const warnings = lintSchema(parseSchema(schema)).map(
    ({ position, message }) => `${position.line}:${position.column}: ${message}`,
  );
  return { error: undefined, warnings: warnings.join("\n") };
}
