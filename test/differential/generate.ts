import fc from "fast-check";

import type { Context } from "../../src/base/tuple.ts";
import type { CheckItem } from "../../src/store/store.ts";
import type { Case, Round, Write } from "./case.ts";
import { attributesOf, type FactsSketch, factsSketch, idOf, tuplesOf } from "./generate-facts.ts";
import {
  type EntityShape,
  type SchemaShape,
  schemaShape,
  type SchemaSketch,
  schemaSketch,
} from "./generate-schema.ts";
import { contextData } from "./generate-values.ts";
import { entityNames, idPool, plainNames } from "./name-pool.ts";
import { chosen } from "./pick.ts";
import { canAsk } from "./schema-text.ts";

/** Questions in a round, of which the more telling ones get asked. */
const candidates = 60;

const pick = fc.nat({ max: 9_999 });
const id = fc.nat({ max: idPool.length - 1 });

export interface ItemSketch {
  readonly name: number;
  readonly entity: number;
  readonly subject: {
    readonly form: "plain" | "entity" | "userset";
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

const item: fc.Arbitrary<ItemSketch> = fc.record({
  name: pick,
  entity: id,
  subject: fc.record({
    form: fc.constantFrom("plain", "plain", "plain", "entity", "userset"),
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

export function itemOf(sketch: ItemSketch, shape: SchemaShape): CheckItem {
  const names = shape.entities.flatMap((entity) => namesOf(entity, shape));
  const usersets = names.filter((one) => one.kind !== "rule");
  const user: Name = { type: "user", name: "none", kind: "userset", parameters: [] };
  const asked = names.length === 0 ? user : chosen(names, sketch.name);
  const { form, pick: index } = sketch.subject;
  const userset = usersets.length === 0 ? user : chosen(usersets, index);
  const types = { plain: chosen(plainNames, index), entity: chosen(entityNames, index) };
  const subjectType = form === "userset" ? userset.type : types[form];
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
