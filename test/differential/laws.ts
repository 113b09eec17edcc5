import type { Entity, Subject, Tuple } from "../../src/base/tuple.ts";
import type { Expression } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";
import type { FormsFacts } from "./forms-case.ts";
import { renamed } from "./renamed.ts";
import {
  type EntityModel,
  isOperation,
  type PermissionModel,
  rewritten,
  type SchemaModel,
  withExpressions,
} from "./schema-model.ts";

/** A schema with data. */
export interface World {
  readonly model: SchemaModel;
  readonly facts: FormsFacts;
}

/** What a world becomes, and how the questions about the first one are asked about it. */
export interface Change extends World {
  readonly item: (item: CheckItem) => CheckItem;
}

/** Something that may be changed about a schema and its data without any answer changing. */
export type Law = (world: World, chance: Chance) => Change;

/** A source of numbers that are the same for the same case; `one(n)` is less than n. */
export interface Chance {
  readonly one: (below: number) => number;
}

export type LawName = (typeof lawNames)[number];

export const lawNames = [
  "a part of an expression gets a name",
  "operands change places",
  "operands are grouped otherwise",
  "a relation is split in two",
  "everything gets another name",
  "something is added that nothing refers to",
] as const;

export const laws: Readonly<Record<LawName, Law>> = {
  "a part of an expression gets a name": nameParts,
  "operands change places": commute,
  "operands are grouped otherwise": regroup,
  "a relation is split in two": splitRelation,
  "everything gets another name": renamed,
  "something is added that nothing refers to": addUnrelated,
};

const same = (item: CheckItem): CheckItem => item;

function nameParts({ model, facts }: World, chance: Chance): Change {
  const entities = model.entities.map((entity): EntityModel => {
    const permissions = entity.permissions.flatMap(({ name, expression }) => {
      const named: PermissionModel[] = [];
      const rest = rewritten(expression, (part) => {
        if (chance.one(2) === 0) return part;
        const permission = `${name}_part${"_x".repeat(named.length)}`;
        named.push({ name: permission, expression: part });
        return { kind: "permission", name: permission };
      });
      return [{ name, expression: rest }, ...named];
    });
    return { ...entity, permissions };
  });
  return { model: { ...model, entities }, facts, item: same };
}

function commute({ model, facts }: World, chance: Chance): Change {
  const changed = withExpressions(model, (part) =>
    isOperation(part) && part.kind !== "not" && chance.one(3) > 0
      ? { ...part, left: part.right, right: part.left }
      : part,
  );
  return { model: changed, facts, item: same };
}

/** `(a or b) or c` becomes `a or (b or c)`, and the other way round. */
function regroup({ model, facts }: World): Change {
  const changed = withExpressions(model, (part) => {
    if (!isOperation(part) || part.kind === "not") return part;
    const { kind, left, right } = part;
    if (left.kind === kind) {
      return { kind, left: left.left, right: { kind, left: left.right, right } };
    }
    if (right.kind === kind) {
      return { kind, left: { kind, left, right: right.left }, right: right.right };
    }
    return part;
  });
  return { model: changed, facts, item: same };
}

/** Every second tuple goes to a relation of its own, and what named the relation names both. */
function splitRelation({ model, facts }: World, chance: Chance): Change {
  const options = model.entities.flatMap((entity) =>
    entity.relations
      .filter(({ name }) => !isNamedElsewhere(model, entity.name, name))
      .map((relation) => ({ type: entity.name, relation })),
  );
  const chosen = options[options.length === 0 ? 0 : chance.one(options.length)];
  if (chosen === undefined) return { model, facts, item: same };
  const { type, relation } = chosen;
  const names = { half: `${relation.name}_half`, both: `${relation.name}_both` };
  const both: Expression = {
    kind: "or",
    left: { kind: "relation", name: relation.name },
    right: { kind: "relation", name: names.half },
  };
  const changed = withExpressions(model, (part, entity) =>
    entity.name === type ? named(part, relation.name, names.half, both) : part,
  );
  const entities = changed.entities.map((entity): EntityModel => {
    if (entity.name !== type) return entity;
    const relations = [...entity.relations, { ...relation, name: names.half }];
    const permissions = [...entity.permissions, { name: names.both, expression: both }];
    return { ...entity, relations, permissions };
  });
  const isOfIt = ({ entity, relation: name }: Tuple): boolean =>
    entity.type === type && name === relation.name;
  const tuples = facts.tuples.map((tuple, place) =>
    isOfIt(tuple) && place % 2 === 0 ? { ...tuple, relation: names.half } : tuple,
  );
  // The same tuple twice would stand on both sides: that says the same.
  return {
    model: { ...changed, entities },
    facts: { ...facts, tuples },
    item: (item) =>
      item.entity.type === type && item.permission === relation.name
        ? { ...item, permission: names.both }
        : item,
  };
}

function named(part: Expression, relation: string, half: string, both: Expression): Expression {
  if (part.kind === "relation" && part.name === relation) return both;
  if (part.kind === "walk" && part.relation === relation) {
    return { kind: "or", left: part, right: { ...part, relation: half } };
  }
  return part;
}

/** Whether a userset or a walk from another entity leads to the relation by its name. */
function isNamedElsewhere(model: SchemaModel, type: string, relation: string): boolean {
  return model.entities.some(
    ({ relations, permissions }) =>
      relations.some(({ types }) =>
        types.some((one) => one.type === type && one.relation === relation),
      ) ||
      permissions.some(({ expression }) => walksOf(expression).some((one) => one === relation)),
  );
}

/** The names that the walks of an expression ask. */
function walksOf(expression: Expression): readonly string[] {
  if (isOperation(expression)) return [...walksOf(expression.left), ...walksOf(expression.right)];
  return expression.kind === "walk" ? [expression.name] : [];
}

/** A type, a relation of every entity and a permission of each, with tuples of the same ids. */
function addUnrelated({ model, facts }: World): Change {
  const stranger = { type: "stranger", relation: "" };
  const entities = model.entities.map((entity): EntityModel => ({
    ...entity,
    relations: [
      { name: "unrelated", types: [{ type: entity.name, relation: "" }, stranger] },
      ...entity.relations,
    ],
    permissions: [
      ...entity.permissions,
      { name: "unheard", expression: { kind: "relation", name: "unrelated" } },
    ],
  }));
  const other: EntityModel = { name: "stranger", relations: [], attributes: [], permissions: [] };
  const ends = facts.tuples.flatMap(({ entity, subject }) => [entity, subject]);
  const tuples = ends.map((entity): Tuple => ({
    entity: { type: entity.type, id: entity.id },
    relation: "unrelated",
    subject: strangerOf(entity),
  }));
  return {
    model: { ...model, entities: [other, ...entities] },
    facts: { ...facts, tuples: [...tuples, ...facts.tuples] },
    item: same,
  };
}

function strangerOf(entity: Entity): Subject {
  return { type: "stranger", id: entity.id, relation: "" };
}
