import type { EntityNode, MemberNode, RelationNode, RuleNode, SchemaTree } from "./tree.ts";

/**
 * What each name of a schema stands for. If a name is declared several times, the first one counts.
 */
export interface SchemaScope {
  readonly entities: ReadonlyMap<string, EntityScope>;
  readonly rules: ReadonlyMap<string, RuleNode>;
}

export interface EntityScope {
  readonly node: EntityNode;
  readonly members: ReadonlyMap<string, MemberNode>;
}

/** A type, or the subjects of a relation if `relation` is not "". */
export interface SubjectType {
  readonly type: string;
  readonly relation: string;
}

/** The names that a schema declares. Entities and rules share one namespace. */
export function scopeOf(tree: SchemaTree): SchemaScope {
  const entities = new Map<string, EntityScope>();
  const rules = new Map<string, RuleNode>();
  for (const statement of tree.statements) {
    const name = statement.name.text;
    if (entities.has(name) || rules.has(name)) continue;
    if (statement.kind === "rule") rules.set(name, statement);
    else entities.set(name, { node: statement, members: membersOf(statement) });
  }
  return { entities, rules };
}

/** The relation of that name. Undefined if the entity or the relation is missing. */
export function relationOf(
  scope: SchemaScope,
  type: string,
  name: string,
): RelationNode | undefined {
  const member = scope.entities.get(type)?.members.get(name);
  return member?.kind === "relation" ? member : undefined;
}

/**
 * Whether a walk can ask for `name` on that entity: it must be a relation or a permission there.
 */
export function isAskable(scope: SchemaScope, type: string, name: string): boolean {
  const kind = scope.entities.get(type)?.members.get(name)?.kind;
  return kind === "relation" || kind === "permission";
}

/** Whether `name` can be asked for on one of the entities that `type#relation` can hold. */
export function isAskableBehind(scope: SchemaScope, userset: SubjectType, name: string): boolean {
  for (const { type } of typesBehind(typesIn(scope), userset)) {
    if (isAskable(scope, type, name)) return true;
  }
  return false;
}

/** All members, as `type#name`, on which {@link isAskableBehind} depends. */
export function* membersBehind(
  scope: SchemaScope,
  userset: SubjectType,
  name: string,
): Generator<string> {
  yield `${userset.type}#${userset.relation}`;
  for (const { type, relation } of typesBehind(typesIn(scope), userset)) {
    yield `${type}#${name}`;
    if (relation !== "") yield `${type}#${relation}`;
  }
}

/**
 * The types that the userset can hold, directly or through other usersets, which may form cycles.
 * `typesOf` lists those of one relation.
 */
export function* typesBehind(
  typesOf: (userset: SubjectType) => readonly SubjectType[],
  userset: SubjectType,
): Generator<SubjectType> {
  const seen = new Set([`${userset.type}#${userset.relation}`]);
  const left = [userset];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const inner of typesOf(next)) {
      yield inner;
      const key = `${inner.type}#${inner.relation}`;
      if (inner.relation === "" || seen.has(key)) continue;
      seen.add(key);
      left.push(inner);
    }
  }
}

function typesIn(scope: SchemaScope): (userset: SubjectType) => readonly SubjectType[] {
  return ({ type, relation }) =>
    (relationOf(scope, type, relation)?.types ?? []).map((node) => ({
      type: node.type.text,
      relation: node.relation?.text ?? "",
    }));
}

function membersOf(entity: EntityNode): ReadonlyMap<string, MemberNode> {
  const members = new Map<string, MemberNode>();
  for (const member of entity.members) {
    if (!members.has(member.name.text)) members.set(member.name.text, member);
  }
  return members;
}
