import { must } from "../base/assert.ts";
import type { EntityDefinition, Expression, RelationType, Schema } from "../language/schema.ts";

/** A (type, name) pair of a schema: a relation or a permission. */
export interface Name {
  readonly entityType: string;
  readonly name: string;
}

export function nameKey(name: Name): string {
  return `${name.entityType}#${name.name}`;
}

/** The operands of an expression that are no operators, left to right. */
function leaves(expression: Expression): Exclude<Expression, { kind: "or" | "and" | "not" }>[] {
  const found: Exclude<Expression, { kind: "or" | "and" | "not" }>[] = [];
  // A stack of its own: an `or` of ten thousand operands is a left spine of that depth.
  const stack: Expression[] = [expression];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next.kind === "or" || next.kind === "and" || next.kind === "not") {
      stack.push(next.right, next.left);
    } else {
      found.push(next);
    }
  }
  return found;
}

/**
 * Where a walk over `relation` asks `name`: one target for each type of the relation that has it
 * (decisions: a type without the name contributes nothing), whatever the subject's relation.
 */
export function walkTargets(schema: Schema, entity: EntityDefinition, walk: Walk): Name[] {
  const relation = must(entity.relations.get(walk.relation), "a compiled walk names a relation");
  const types = new Set(relation.types.map((type) => type.type));
  return [...types]
    .filter((type) => hasName(schema, type, walk.name))
    .map((entityType) => ({ entityType, name: walk.name }));
}

type Walk = Extract<Expression, { kind: "walk" }>;

/** The types of a relation that are usersets. */
export function usersetTypes(types: readonly RelationType[]): RelationType[] {
  return types.filter((type) => type.relation !== "");
}

/** The names that the definition of a name mentions, at the same entity or behind a hop. */
export function referencesOf(schema: Schema, from: Name): Name[] {
  const entity = must(schema.entities.get(from.entityType), "a name's entity exists");
  const relation = entity.relations.get(from.name);
  if (relation !== undefined) {
    return usersetTypes(relation.types).map((type) => ({
      entityType: type.type,
      name: type.relation,
    }));
  }
  const permission = entity.permissions.get(from.name);
  return permission === undefined ? [] : mentions(schema, entity, permission.expression);
}

/** The names that an expression of an entity mentions. */
export function mentions(schema: Schema, entity: EntityDefinition, expression: Expression): Name[] {
  return leaves(expression).flatMap((leaf) => {
    switch (leaf.kind) {
      case "relation":
      case "permission":
        return [{ entityType: entity.name, name: leaf.name }];
      case "walk":
        return walkTargets(schema, entity, leaf);
      case "attribute":
      case "call":
        return [];
    }
  });
}

function hasName(schema: Schema, entityType: string, name: string): boolean {
  const entity = schema.entities.get(entityType);
  return entity !== undefined && (entity.relations.has(name) || entity.permissions.has(name));
}
