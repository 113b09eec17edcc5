import fc from "fast-check";

import type { Attribute, Tuple } from "../../src/base/tuple.ts";
import type { RelationType } from "../../src/language/schema.ts";
import type { SchemaShape } from "./generate-schema.ts";
import { valueOf } from "./generate-values.ts";
import { idPool, plainNames } from "./name-pool.ts";
import { chosen } from "./pick.ts";

const pick = fc.nat({ max: 9_999 });

interface TupleSketch {
  readonly relation: number;
  readonly entity: number;
  readonly subject: number;
}

interface AttributeSketch {
  readonly attribute: number;
  readonly entity: number;
  readonly value: number;
}

/** Data that are drawn before it is known what the schema allows. */
export interface FactsSketch {
  readonly tuples: readonly TupleSketch[];
  /** Relations in which every entity gets the next one as its subject. */
  readonly chains: readonly number[];
  readonly attributes: readonly AttributeSketch[];
}

/** At most so many of each, about the first `ids` ids of the pool. */
export function factsSketch(
  tuples: number,
  attributes: number,
  ids: number = idPool.length,
): fc.Arbitrary<FactsSketch> {
  const id = fc.nat({ max: ids - 1 });
  return fc.record({
    chains: fc.array(pick, { maxLength: tuples > 10 ? 3 : 0 }),
    tuples: fc.array(fc.record({ relation: pick, entity: id, subject: id }), {
      maxLength: tuples,
      size: "max",
    }),
    attributes: fc.array(fc.record({ attribute: pick, entity: id, value: pick }), {
      maxLength: attributes,
      size: "max",
    }),
  });
}

/** The tuples that a schema allows. */
export function tuplesOf(shape: SchemaShape, facts: FactsSketch): readonly Tuple[] {
  const options: readonly TupleOption[] = shape.entities.flatMap((entity) =>
    entity.relations.flatMap(({ name, types }) =>
      types.map((type) => ({ entity: entity.name, relation: name, type })),
    ),
  );
  const chains = options.filter(({ entity, type }) => entity === type.type);
  return [
    ...facts.tuples.flatMap((one) => tupleOf(options, one)),
    ...facts.chains.flatMap((relation) =>
      idPool
        .slice(1)
        .flatMap((_, entity) => tupleOf(chains, { relation, entity, subject: entity + 1 })),
    ),
  ];
}

interface TupleOption {
  readonly entity: string;
  readonly relation: string;
  readonly type: RelationType;
}

/** Nothing for a tuple that no schema allows: the one from a userset to itself. */
function tupleOf(options: readonly TupleOption[], sketch: TupleSketch): readonly Tuple[] {
  if (options.length === 0) return [];
  const { entity, relation, type } = chosen(options, sketch.relation);
  const tuple: Tuple = {
    entity: { type: entity, id: idOf(entity, sketch.entity) },
    relation,
    subject: { type: type.type, id: idOf(type.type, sketch.subject), relation: type.relation },
  };
  const same = tuple.entity.type === type.type && tuple.entity.id === tuple.subject.id;
  return same && relation === type.relation ? [] : [tuple];
}

/** Few plain subjects, so that many questions find one; more of the rest, so that paths get long. */
export function idOf(type: string, index: number): string {
  return chosen(isPlain(type) ? idPool.slice(0, 2) : idPool, index);
}

function isPlain(type: string): boolean {
  return plainNames.some((name) => name === type);
}

/** The attributes that a schema has, each with one value. */
export function attributesOf(shape: SchemaShape, facts: FactsSketch): readonly Attribute[] {
  const options = shape.entities.flatMap((entity) =>
    entity.attributes.map((attribute) => ({ entity: entity.name, ...attribute })),
  );
  if (options.length === 0) return [];
  const values = new Map<string, Attribute>();
  for (const sketch of facts.attributes) {
    const { entity, name, type } = chosen(options, sketch.attribute);
    const id = idOf(entity, sketch.entity);
    values.set(`${entity}:${id}$${name}`, {
      entity: { type: entity, id },
      attribute: name,
      value: valueOf(type, sketch.value),
    });
  }
  return [...values.values()];
}
