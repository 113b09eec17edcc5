import fc from "fast-check";

import type { Attribute, Context, Tuple } from "../../src/base/tuple.ts";
import type { RelationType } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";
import type { Case, Round, Write } from "./case.ts";
import {
  type EntityShape,
  type SchemaShape,
  schemaShape,
  type SchemaSketch,
  schemaSketch,
} from "./generate-schema.ts";
import { contextData, valueOf } from "./generate-values.ts";
import { entityNames, idPool as ids } from "./name-pool.ts";
import { chosen } from "./pick.ts";
import { canAsk } from "./schema-text.ts";

/** Questions in a round, of which the more telling ones get asked. */
const candidates = 60;

const pick = fc.nat({ max: 9_999 });
const id = fc.nat({ max: ids.length - 1 });

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

interface FactsSketch {
  readonly tuples: readonly TupleSketch[];
  /** Relations in which every entity gets the next one as its subject. */
  readonly chains: readonly number[];
  readonly attributes: readonly AttributeSketch[];
}

interface ItemSketch {
  readonly name: number;
  readonly entity: number;
  readonly subject: {
    readonly form: "user" | "entity" | "userset";
    readonly pick: number;
    readonly id: number;
  };
  readonly unknown: "nothing" | "type" | "permission";
}

interface RoundSketch {
  readonly schema: number | null;
  readonly after: number | null;
  readonly depth: number;
  readonly facts: FactsSketch;
  readonly data: Context["data"];
  readonly items: readonly ItemSketch[];
}

interface CaseSketch {
  readonly schema: SchemaSketch;
  readonly changes: boolean;
  readonly writes: readonly (FactsSketch & { readonly schema: number })[];
  readonly rounds: readonly RoundSketch[];
}

function factsSketch(tuples: number, attributes: number): fc.Arbitrary<FactsSketch> {
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

const item: fc.Arbitrary<ItemSketch> = fc.record({
  name: pick,
  entity: id,
  subject: fc.record({
    form: fc.constantFrom("user", "user", "user", "entity", "userset"),
    pick,
    id,
  }),
  unknown: fc.oneof(
    { weight: 60, arbitrary: fc.constant("nothing" as const) },
    fc.constantFrom("type", "permission"),
  ),
});

/** The first round is the common one: head, enough depth, no context. */
function round(plain: boolean): fc.Arbitrary<RoundSketch> {
  const none = { tuples: [], chains: [], attributes: [] };
  const pinned = fc.option(fc.nat({ max: 3 }));
  return fc.record({
    schema: plain ? fc.constant(null) : pinned,
    after: plain ? fc.constant(null) : pinned,
    depth: plain ? fc.constant(100) : fc.constantFrom(1, 1, 2, 2, 3, 100, 100),
    facts: plain ? fc.constant(none) : fc.oneof(fc.constant(none), factsSketch(4, 4)),
    data: contextData,
    items: fc.array(item, { minLength: 1, maxLength: candidates, size: "max" }),
  });
}

const writesSketch = fc.array(
  fc.tuple(factsSketch(24, 8), pick).map(([facts, schema]) => ({ ...facts, schema })),
  { minLength: 1, maxLength: 4 },
);

const caseSketch: fc.Arbitrary<CaseSketch> = fc.record({
  schema: schemaSketch,
  changes: fc.nat({ max: 3 }).map((one) => one === 3),
  writes: writesSketch,
  rounds: fc.tuple(round(true), round(false), round(false)),
});

export const anyCase: fc.Arbitrary<Case> = caseSketch.map(caseOf);

/** A case, and writes for a tenant that has the same schemas and ids but other data. */
export const anyNeighbours: fc.Arbitrary<{
  readonly ours: Case;
  readonly theirs: readonly Write[];
}> = fc.record({ sketch: caseSketch, theirs: writesSketch }).map(({ sketch, theirs }) => ({
  ours: caseOf(sketch),
  theirs: caseOf({ ...sketch, writes: theirs }).writes,
}));

function caseOf(sketch: CaseSketch): Case {
  const shapes = [schemaShape(sketch.schema, false)];
  if (sketch.changes) shapes.push(schemaShape(sketch.schema, true));
  const writes: Write[] = sketch.writes.map((write) => {
    const schema = write.schema % shapes.length;
    const shape = chosen(shapes, schema);
    return { schema, tuples: tuplesOf(shape, write), attributes: attributesOf(shape, write) };
  });
  return {
    schemas: shapes.map((shape) => shape.text),
    writes,
    rounds: sketch.rounds.map((one) => roundOf(one, shapes, writes.length)),
  };
}

function roundOf(sketch: RoundSketch, shapes: readonly SchemaShape[], writes: number): Round {
  const schema = sketch.schema === null ? null : sketch.schema % shapes.length;
  const shape = chosen(shapes, schema ?? shapes.length - 1);
  return {
    schema,
    after: sketch.after === null ? null : sketch.after % writes,
    depth: sketch.depth,
    context: {
      tuples: tuplesOf(shape, sketch.facts),
      attributes: attributesOf(shape, sketch.facts),
      data: sketch.data,
    },
    items: sketch.items.map((one) => itemOf(one, shape)),
  };
}

function tuplesOf(shape: SchemaShape, facts: FactsSketch): readonly Tuple[] {
  const options: readonly TupleOption[] = shape.entities.flatMap((entity) =>
    entity.relations.flatMap(({ name, types }) =>
      types.map((type) => ({ entity: entity.name, relation: name, type })),
    ),
  );
  const chains = options.filter(({ entity, type }) => entity === type.type);
  return [
    ...facts.tuples.flatMap((one) => tupleOf(options, one)),
    ...facts.chains.flatMap((relation) =>
      ids
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

/** Few users, so that many questions find somebody; more of the rest, so that paths get long. */
function idOf(type: string, index: number): string {
  return chosen(type === "user" ? ids.slice(0, 3) : ids, index);
}

function attributesOf(shape: SchemaShape, facts: FactsSketch): readonly Attribute[] {
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

function itemOf(sketch: ItemSketch, shape: SchemaShape): CheckItem {
  const names = shape.entities.flatMap((entity) => namesOf(entity, shape));
  const usersets = names.filter((one) => one.kind !== "rule");
  const user: Name = { type: "user", name: "none", kind: "userset", parameters: [] };
  const asked = names.length === 0 ? user : chosen(names, sketch.name);
  const { form, pick: index } = sketch.subject;
  const userset = usersets.length === 0 ? user : chosen(usersets, index);
  const subjectType =
    form === "user" ? "user" : form === "entity" ? chosen(entityNames, index) : userset.type;
  return {
    entity: {
      type: sketch.unknown === "type" ? "stranger" : asked.type,
      id: idOf(asked.type, sketch.entity),
    },
    permission: sketch.unknown === "permission" ? "strange" : asked.name,
    subject: {
      type: subjectType,
      id: idOf(subjectType, sketch.subject.id),
      relation: form === "userset" && userset !== user ? userset.name : "",
    },
    arguments: asked.parameters,
  };
}

interface Name {
  readonly type: string;
  readonly name: string;
  /** All but a rule can also stand as the subject of a question. */
  readonly kind: "userset" | "attribute" | "rule";
  readonly parameters: readonly string[];
}

/** What can be asked at an entity type, permissions more often than the rest. */
function namesOf(entity: EntityShape, shape: SchemaShape): readonly Name[] {
  const permissions = entity.permissions.map((one) => one.name);
  const relations = entity.relations.map((one) => one.name);
  const flags = entity.attributes.filter((one) => one.type === "boolean").map((one) => one.name);
  const name = (name: string, kind: Name["kind"], parameters: readonly string[] = []): Name => ({
    type: entity.name,
    name,
    kind,
    parameters,
  });
  return [
    ...[...permissions, ...permissions, ...permissions].map((one) => name(one, "userset")),
    ...relations.map((one) => name(one, "userset")),
    ...flags.map((one) => name(one, "attribute")),
    ...shape.rules
      .filter((rule) => canAsk(entity, rule))
      .map((rule) =>
        name(
          rule.name,
          "rule",
          rule.parameters.map((one) => one.name),
        ),
      ),
  ];
}
