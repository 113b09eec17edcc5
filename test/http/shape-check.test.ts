import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";
import type { TSchema } from "typebox";
import { Compile } from "typebox/schema";

import { PembaError } from "../../src/base/error.ts";
import { shapeCompiler } from "../../src/http/shape-check.ts";
import * as bundle from "../../src/http/shapes/bundle.ts";
import * as change from "../../src/http/shapes/data-change.ts";
import * as data from "../../src/http/shapes/data.ts";
import * as permission from "../../src/http/shapes/permission.ts";
import * as schema from "../../src/http/shapes/schema.ts";
import * as tenant from "../../src/http/shapes/tenant.ts";
import * as fields from "../../src/http/shapes/value-fields.ts";
import * as watch from "../../src/http/shapes/watch.ts";
import { caseCount, seed } from "../support/run-length.ts";

const shapes = Object.entries({
  ...bundle,
  ...change,
  ...data,
  ...permission,
  ...schema,
  ...tenant,
  ...fields,
  ...watch,
}).flatMap(([name, shape]): (readonly [string, TSchema])[] =>
  /(?:Body|Request|Params)$/.test(name) && typeof shape === "object" ? [[name, shape]] : [],
);

/** The field that the error names, if there is an error. */
function refusedField(shape: TSchema, value: unknown): string | undefined {
  const check = shapeCompiler({ schema: shape, method: "POST", url: "/" });
  const result: unknown = check(value);
  assert.ok(typeof result === "object" && result !== null);
  if (!("error" in result)) return undefined;
  assert.ok(result.error instanceof PembaError);
  return result.error.details[0]?.field;
}

/** The field of the first error that the library finds. */
function firstField(shape: TSchema, value: unknown): string | undefined {
  const [, [first]] = Compile(shape).Errors(value);
  if (first === undefined) return undefined;
  const path = first.instancePath.replaceAll(/\/(\d+)/g, "[$1]").replaceAll("/", ".");
  return path === "" ? "body" : path.replace(/^\./, "");
}

const anything = fc.constantFrom<unknown>(null, true, 1, 1.5, "", "text", [], [1], {}, { id: 1 });

/** Mostly of the shape. */
function valueOf(shape: unknown): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: fitting(shape) }, { weight: 1, arbitrary: anything });
}

function fitting(shape: unknown): fc.Arbitrary<unknown> {
  const part = (key: string): unknown =>
    typeof shape === "object" && shape !== null ? Reflect.get(shape, key) : undefined;
  const items = part("items");
  const others = part("additionalProperties");
  if (items !== undefined) return fc.array(valueOf(items), { maxLength: 3 });
  if (others !== undefined) return fc.dictionary(fc.constantFrom("a", "b", "c"), valueOf(others));
  const properties = Object.entries(part("properties") ?? {});
  if (properties.length > 0) {
    const parts = properties.map(([key, inner]) => [key, valueOf(inner)] as const);
    return fc.record(Object.fromEntries(parts), { requiredKeys: [] });
  }
  const types = [part("type")].flat();
  if (types.includes("integer")) return fc.constantFrom(1, "1");
  if (types.includes("boolean")) return fc.boolean();
  return types.includes("object") ? fc.constant({ any: [1] }) : fc.constant("text");
}

describe("a request that has the wrong shape", () => {
  for (const [name, shape] of shapes) {
    test(`names the first fault: ${name}`, () => {
      fc.assert(
        fc.property(valueOf(shape), (value) => {
          const given = value ?? {};
          assert.equal(refusedField(shape, given), firstField(shape, given));
        }),
        { numRuns: caseCount({ short: 100, long: 2_000 }), seed },
      );
    });
  }

  test("is not read beyond the first fault", () => {
    let reads = 0;
    const tuples = new Proxy([1, ...Array<number>(1_000).fill(2)], {
      get: (list, key, receiver): unknown => {
        if (typeof key === "string" && /^\d+$/.test(key)) reads += 1;
        return Reflect.get(list, key, receiver);
      },
    });
    assert.equal(refusedField(data.writeDataBody, { tuples }), "tuples[0]");
    assert.ok(reads < 10, `${reads} elements are read`);
  });
});
