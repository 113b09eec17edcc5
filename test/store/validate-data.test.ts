import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { runThrough } from "../../src/base/steps.ts";
import type { Attribute, Tuple } from "../../src/base/tuple.ts";
import { compileSchemaTextSteps } from "../../src/language/compile.ts";
import { validateAttributes, validateTuples } from "../../src/store/validate-data.ts";
import { tuple } from "./engines.ts";

/** Distinct names of letters. */
function nameOf(index: number): string {
  const rest = Math.floor(index / 26);
  return `${rest === 0 ? "" : nameOf(rest - 1)}${String.fromCodePoint(97 + (index % 26))}`;
}

const names = Array.from({ length: 2_000 }, (_, index) => `${nameOf(index)}_`);
const schema = runThrough(
  compileSchemaTextSteps(`
    entity user {}
    entity doc { relation owner ${names.map((name) => `@${name}`).join(" ")} }
    ${names.map((name) => `entity ${name} {}`).join("\n")}
  `),
);

function refusalOf(work: () => unknown): PembaError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof PembaError);
    return error;
  }
  return assert.fail("it is not refused");
}

/** What names the elements, and which it named. */
function naming() {
  const named: number[] = [];
  const pathOf = (index: number): string => {
    named.push(index);
    return `list[${index}]`;
  };
  return { named, pathOf };
}

const firstHundred = Array.from({ length: 100 }, (_, index) => 2 * index + 1);

test("the first hundred tuples at fault are told, and others are not looked for", () => {
  const right = tuple("doc:1#owner@a_:1");
  const wrong = tuple("doc:1#ownr@a_:1");
  const tuples = Array.from({ length: 1_000 }, (_, index): Tuple => (index % 2 ? wrong : right));
  const { named, pathOf } = naming();
  const error = refusalOf(() => runThrough(validateTuples(schema, tuples, pathOf)));
  assert.deepEqual(named, firstHundred);
  assert.equal(error.code, "RELATION_DEFINITION_NOT_FOUND");
  assert.match(error.plainMessage, /^list\[1\]\.relation: `ownr` is not a relation of `doc`/);
  assert.deepEqual(
    error.details.map(({ field }) => field),
    firstHundred.map((index) => `list[${index}].relation`),
  );
});

test("the first hundred attributes at fault are told, and others are not looked for", () => {
  const attributes = Array.from({ length: 1_000 }, (): Attribute => ({
    entity: { type: "doc", id: "1" },
    attribute: "public",
    value: { type: "boolean", data: true },
  }));
  const { named, pathOf } = naming();
  const error = refusalOf(() => runThrough(validateAttributes(schema, attributes, pathOf)));
  assert.equal(named.length, 100);
  assert.equal(error.code, "ATTRIBUTE_DEFINITION_NOT_FOUND");
  assert.equal(error.details.at(99)?.field, "list[99].attribute");
  assert.equal(error.details.length, 100);
});

test("validation yields to other work, with faults and without", () => {
  const count = (steps: Iterator<void, unknown>): number => {
    let pauses = 0;
    for (;;) {
      try {
        if (steps.next().done === true) return pauses;
      } catch {
        return pauses;
      }
      pauses += 1;
    }
  };
  const pathOf = (index: number): string => String(index);
  const right = Array.from({ length: 1_000 }, () => tuple(`doc:1#owner@${names.at(-1)}:1`));
  assert.ok(count(validateTuples(schema, right, pathOf)) >= 1_000);
  const wrong = Array.from({ length: 1_000 }, () => tuple("dok:1#owner@a_:1"));
  assert.ok(count(validateTuples(schema, wrong, pathOf)) >= 99);
});
