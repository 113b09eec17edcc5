import fc from "fast-check";

import { compileSchemaText } from "../../src/language/compile.ts";
import type { RelationType } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { factKey, type FootprintCase } from "./footprint-case.ts";
import { changeOf, changeSketch } from "./generate-changes.ts";
import { attributesOf, factsSketch, idOf, tuplesOf } from "./generate-facts.ts";
import {
  type SchemaShape,
  schemaShape,
  schemaSketch,
  type SchemaSketch,
} from "./generate-schema.ts";
import { itemOf, type ItemSketch } from "./generate.ts";
import type { Facts } from "./ground.ts";
import { entityNames, nestedNames } from "./name-pool.ts";
import { chosen } from "./pick.ts";
import { factsAfter } from "./story.ts";
import { mostTelling, type Preference } from "./telling-item.ts";

/** Few, so that data, questions and changes meet. */
const ids = 3;

/** Of which the more telling ones are asked. */
const candidates = { items: 16, changes: 60 };

const pick = fc.nat({ max: 9_999 });
const id = fc.nat({ max: ids - 1 });

interface AskedSketch {
  readonly item: ItemSketch;
  /** Of the kinds of subjects that relations take, or any. */
  readonly subject: { readonly form: "taken" | "any"; readonly pick: number; readonly id: number };
}

const asked: fc.Arbitrary<AskedSketch> = fc.record({
  item: fc.record({
    name: pick,
    entity: id,
    subject: fc.record({ form: fc.constantFrom("plain", "entity", "userset"), pick, id }),
    unknown: fc.constant("nothing"),
  }),
  subject: fc.record({ form: fc.constantFrom("taken", "taken", "taken", "any"), pick, id }),
});

const question = fc.record({
  schema: pick,
  depth: fc.constantFrom(100, 100, 100, 1, 2, 3),
  prefers: fc.constantFrom<Preference[]>(
    "any",
    "reached subjects",
    "reached subjects",
    "new entities",
    "new subjects",
  ),
  items: fc.array(asked, { minLength: 1, maxLength: candidates.items, size: "max" }),
  changes: fc.array(changeSketch, { minLength: 1, maxLength: candidates.changes, size: "max" }),
});

type PermissionSketch = SchemaSketch["entities"][number]["permissions"][number];

/** Relations that lead from each of the types that stand in each other: to the type itself, or to groups. */
const parent = { name: 1, types: [], plains: [], later: "stays" } as const;
const member = { name: 0, types: [{ form: "type", pick: 3 }], plains: [], later: "stays" } as const;

/** It takes users, and entities of the type itself. */
const viewer = {
  name: 2,
  types: [{ form: "self", pick: 0 }],
  plains: ["user"],
  later: "stays",
} as const;

/** `viewer or parent.view`, or `viewer or member.view`. */
const view = {
  name: 0,
  expression: {
    kind: "branch",
    operator: "or",
    left: { kind: "leaf", form: "relation", pick: 1 },
    right: { kind: "leaf", form: "again", pick: 0 },
  },
} as const;

/** All subjects have it where a flag is set, or a rule holds. The rule holds without an attribute as well. */
function viewOr(form: "flag" | "call"): PermissionSketch {
  return {
    name: 0,
    expression: {
      kind: "branch",
      operator: "or",
      left: view.expression,
      right: { kind: "leaf", form, pick: 0 },
    },
  };
}

const groups = {
  closed: { attributes: [], permission: view, rules: [] },
  flagged: { attributes: [{ name: 0, later: "stays" }], permission: viewOr("flag"), rules: [] },
  ruled: { attributes: [{ name: 2, later: "stays" }], permission: viewOr("call"), rules: [3] },
} as const;

/**
 * Schemas in which a subject that is asked about may lead on itself, so that tuples to others of its type decide;
 * and of which all known subjects, or all known entities, may be answers.
 */
const inheriting: fc.Arbitrary<SchemaSketch> = fc
  .record({
    schema: schemaSketch,
    onward: fc.constantFrom(parent, member),
    group: fc.constantFrom(groups.closed, groups.flagged, groups.ruled, groups.ruled),
  })
  .map(({ schema: { entities, rules }, onward, group }) => ({
    rules: [...group.rules, ...rules],
    entities: entities.map((entity, place) => {
      const name = entityNames[place];
      if (!nestedNames.some((nested) => nested === name)) return entity;
      const { attributes, permission } = name === "group" ? group : groups.closed;
      return {
        relations: [onward, viewer, ...entity.relations.slice(0, 2)],
        attributes: [...attributes, ...entity.attributes],
        permissions: [permission, ...entity.permissions.slice(0, 1)],
      };
    }),
  }));

/** A schema, or two of which one follows the other, with data, questions and changes. */
export const anyFootprintCase: fc.Arbitrary<FootprintCase> = fc
  .record({
    schema: fc.oneof({ weight: 2, arbitrary: schemaSketch }, { weight: 1, arbitrary: inheriting }),
    isChanged: fc.nat({ max: 3 }).map((one) => one === 3),
    facts: fc.array(fc.tuple(factsSketch(24, 8, ids), pick), { minLength: 1, maxLength: 3 }),
    questions: fc.array(question, { minLength: 1, maxLength: 12, size: "max" }),
  })
  .map(({ schema, isChanged, facts: written, questions }) => {
    const shapes = [schemaShape(schema, false)];
    if (isChanged) shapes.push(schemaShape(schema, true));
    const schemas = shapes.map(({ text }) => compileSchemaText(text));
    const facts = factsOf(
      written.map(([sketch, index]) => {
        const shape = chosen(shapes, index);
        return { tuples: tuplesOf(shape, sketch), attributes: attributesOf(shape, sketch) };
      }),
    );
    const entities = shapes.flatMap((shape) => shape.entities);
    return {
      schemas: shapes.map(({ text }) => text),
      facts,
      questions: questions.map(({ schema: index, depth, prefers, items, changes }) => {
        const shape = chosen(shapes, index);
        const all = items.flatMap((sketch) => itemsOf(sketch, prefers, shape));
        const telling = mostTelling(all, prefers, { schema: chosen(schemas, index), facts });
        return {
          schema: index % shapes.length,
          depth,
          item: telling.item,
          changes: changes.flatMap(
            (sketch) => changeOf(sketch, { ...telling, facts, entities, ids }) ?? [],
          ),
        };
      }),
    };
  });

function itemsOf(
  { item, subject }: AskedSketch,
  prefers: Preference,
  shape: SchemaShape,
): readonly CheckItem[] {
  const any = itemOf(item, shape);
  const about = ({ type, relation }: RelationType): CheckItem => ({
    ...any,
    subject: { type, id: idOf(type, subject.id), relation },
  });
  if (prefers === "reached subjects") {
    return nestedNames.map((type) => about({ type, relation: "" }));
  }
  const taken = shape.entities.flatMap(({ relations }) => relations.flatMap(({ types }) => types));
  return [subject.form === "any" || taken.length === 0 ? any : about(chosen(taken, subject.pick))];
}

/** No tuple twice, and of each attribute the last value. */
function factsOf(parts: readonly Facts[]): Facts {
  const writes = parts.map((part) => ({ schema: 0, ...part }));
  const { tuples, attributes } = factsAfter(writes, null);
  const distinct = new Map(tuples.map((tuple) => [factKey({ kind: "tuple", tuple }), tuple]));
  return { tuples: [...distinct.values()], attributes };
}
