import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { Attribute, Entity } from "../../src/base/tuple.ts";
import { parseSchema } from "../../src/language/parse.ts";
import { measureCoverage } from "../../src/model-test/coverage/measure.ts";
import { type SchemaPart, schemaPartsOf } from "../../src/model-test/coverage/schema-part.ts";
import type { ModelFile } from "../../src/model-test/file/model-file.ts";
import { readModelFile } from "../../src/model-test/file/read-model-file.ts";
import { missingText } from "../../src/model-test/report/test-run.ts";
import { openMemoryTenant } from "../../src/model-test/run/memory-tenant.ts";
import { runScenarios } from "../../src/model-test/run/run-model.ts";
import { type LoadedModel, writeModel } from "../../src/model-test/run/write-model.ts";

const folder = join(import.meta.dirname, "../../examples/models");
const guide = readFileSync(join(import.meta.dirname, "../../docs/modelling.md"), "utf8");
const models = readdirSync(folder).filter((name) => name.endsWith(".perm"));

function load(name: string): LoadedModel {
  const read = readModelFile(
    readFileSync(join(folder, name.replace(/perm$/, "yaml")), "utf8"),
    name,
    { isStrict: true, minDepth: 1 },
  );
  if (read.kind !== "file") return assert.fail(JSON.stringify(read.problems));
  assert.equal(read.file.schema.text, name);
  return withSchema(read.file, readFileSync(join(folder, name), "utf8"));
}

function withSchema(file: ModelFile, text: string): LoadedModel {
  const placeIn = (line: number, column: number) => ({ file: file.path, line, column });
  return { file, schema: { text, label: file.path, placeIn } };
}

/** The questions with another answer than the asserted one. */
async function failuresOf(model: LoadedModel): Promise<readonly string[]> {
  const tenant = openMemoryTenant();
  try {
    assert.deepEqual(await writeModel(tenant, model), []);
    const results = await runScenarios(tenant, model.file.scenarios);
    assert.ok(results.length > 0);
    return results.filter(({ outcome }) => outcome.kind !== "passed").map(({ query }) => query);
  } finally {
    await tenant.close();
  }
}

/** The model with an operand that always holds, or never. */
function withFault({ file, schema }: LoadedModel, part: SchemaPart, holds: boolean): LoadedModel {
  const { text } = schema;
  // The range of a call ends with its last argument.
  const end = part.operand.endsWith(")") ? text.indexOf(")", part.end) + 1 : part.end;
  const changed = `${text.slice(0, part.start)}${holds ? "always" : "never"}${text.slice(end)}`;
  const members = "\n relation never @user\n attribute always boolean\n}";
  const entityEnds = /\}(?=\s*(?:\/\/[^\n]*\s*)*(?:entity|rule|$))/g;
  const isInRule = (offset: number): boolean =>
    changed.lastIndexOf("\nrule ", offset) > changed.lastIndexOf("entity ", offset);
  const extended = changed.replaceAll(entityEnds, (brace, offset: number) =>
    isInRule(offset) ? brace : members,
  );
  const attributes = [...file.attributes, ...entitiesOf(file).map(alwaysAt)];
  return withSchema({ ...file, attributes }, extended);
}

function alwaysAt(entity: Entity): ModelFile["attributes"][number] {
  const value: Attribute = {
    entity: { type: entity.type, id: entity.id },
    attribute: "always",
    value: { type: "boolean", data: true },
  };
  return { value, place: { file: "", line: 1, column: 1 } };
}

function entitiesOf({ tuples, attributes, scenarios }: ModelFile): readonly Entity[] {
  const cases = scenarios.flatMap((one) => one.cases);
  const all = [
    ...tuples.flatMap(({ value }) => [value.entity, value.subject]),
    ...attributes.map(({ value }) => value.entity),
    ...cases.flatMap((one) => ("entity" in one ? one.entity : [])),
    ...cases.flatMap(({ context }) => context.tuples.map(({ entity }) => entity)),
  ];
  return [...new Map(all.map((one) => [`${one.type}:${one.id}`, one])).values()];
}

test("there are at least six models, each explained in docs/modelling.md", () => {
  assert.ok(models.length >= 6);
  for (const name of models) assert.ok(guide.includes(`(../examples/models/${name})`), name);
});

for (const name of models) {
  test(`the model ${name} answers as its test asserts, and its test covers all of it`, async () => {
    const model = load(name);
    assert.deepEqual(await failuresOf(model), []);
    const { parts, isPartial } = await measureCoverage(model.schema, [model]);
    assert.deepEqual(parts.filter(({ missing }) => missing.length > 0).map(missingText), []);
    assert.equal(isPartial, false);
  });

  test(`the test of the model ${name} fails if an operand always holds, or never`, async () => {
    const model = load(name);
    const { byLeaf } = schemaPartsOf(parseSchema(model.schema.text));
    const unnoticed: string[] = [];
    for (const part of byLeaf.values()) {
      for (const holds of [true, false]) {
        const failures = await failuresOf(withFault(model, part, holds));
        if (failures.length === 0) unnoticed.push(`${part.name} ${part.operand} ${holds}`);
      }
    }
    assert.ok(byLeaf.size > 5);
    assert.deepEqual(unnoticed, []);
  });
}
