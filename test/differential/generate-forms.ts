import fc from "fast-check";

import type { Attribute } from "../../src/base/tuple.ts";
import type { FormsCase, FormsFacts } from "./forms-case.ts";
import { attributesOf, type FactsSketch, factsSketch, tuplesOf } from "./generate-facts.ts";
import { type SchemaShape, schemaShape, schemaSketch } from "./generate-schema.ts";
import { contextData } from "./generate-values.ts";
import { chosen } from "./pick.ts";

/** Few, so that data and questions meet. */
const ids = 3;

/** Schemas with data, small enough to ask everything. */
export const anyFormsCase: fc.Arbitrary<FormsCase> = fc
  .record({
    schema: schemaSketch,
    first: fc.oneof(factsSketch(8, 8, ids), factsSketch(24, 8, ids)),
    rest: fc.oneof(factsSketch(6, 4, ids), factsSketch(24, 4, ids)),
    later: factsSketch(8, 2, ids),
    deleted: fc.nat({ max: 9_999 }),
    data: contextData,
    turn: fc.nat({ max: 9_999 }),
  })
  .map(({ schema, first, rest, later, deleted, data, turn }) => {
    const shape = schemaShape(schema, false);
    const stored = factsOf(shape, first);
    return {
      schema: shape.text,
      first: stored,
      rest: withoutOld(factsOf(shape, rest), stored),
      later: factsOf(shape, later),
      deletedType: chosen(shape.entities, deleted).name,
      data,
      turn,
    };
  });

function factsOf(shape: SchemaShape, sketch: FactsSketch): FormsFacts {
  return { tuples: tuplesOf(shape, sketch), attributes: attributesOf(shape, sketch) };
}

/** An attribute has one value, whether the rest is stored later or comes with the question. */
function withoutOld(facts: FormsFacts, old: FormsFacts): FormsFacts {
  const key = ({ entity, attribute }: Attribute): string =>
    `${entity.type}:${entity.id}$${attribute}`;
  const known = new Set(old.attributes.map(key));
  return { ...facts, attributes: facts.attributes.filter((one) => !known.has(key(one))) };
}
