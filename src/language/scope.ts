import type { EntityNode, MemberNode, RelationNode, RuleNode, SchemaTree } from "./tree.ts";

/** What each name of a schema stands for; of several declarations of a name the first counts. */
export interface Scope {
  readonly entities: ReadonlyMap<string, EntityScope>;
  readonly rules: ReadonlyMap<string, RuleNode>;
}

export interface EntityScope {
  readonly node: EntityNode;
  readonly members: ReadonlyMap<string, MemberNode>;
}

/** The names that a schema declares. Entities and rules share one namespace. */
export function scopeOf(tree: SchemaTree): Scope {
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

/** The relation of that name, undefined when the entity or the relation is not there. */
export function relationOf(scope: Scope, type: string, name: string): RelationNode | undefined {
  const member = scope.entities.get(type)?.members.get(name);
  return member?.kind === "relation" ? member : undefined;
}

/** Can a walk ask `name` on that entity: is it a relation or a permission there? */
export function isAskable(scope: Scope, type: string, name: string): boolean {
  const kind = scope.entities.get(type)?.members.get(name)?.kind;
  return kind === "relation" || kind === "permission";
}

/**
 * Is `name` askable on one of the entities that stand in `type#relation`, directly or in usersets
 * in it? Usersets may hold each other in a circle.
 */
export function isAskableBehind(
  scope: Scope,
  userset: { readonly type: string; readonly relation: string },
  name: string,
): boolean {
  const seen = new Set([`${userset.type}#${userset.relation}`]);
  const left = [userset];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const { type, relation } of relationOf(scope, next.type, next.relation)?.types ?? []) {
      if (isAskable(scope, type.text, name)) return true;
      const key = `${type.text}#${relation?.text ?? ""}`;
      if (relation === undefined || seen.has(key)) continue;
      seen.add(key);
      left.push({ type: type.text, relation: relation.text });
    }
  }
  return false;
}

function membersOf(entity: EntityNode): ReadonlyMap<string, MemberNode> {
  const members = new Map<string, MemberNode>();
  for (const member of entity.members) {
    if (!members.has(member.name.text)) members.set(member.name.text, member);
  }
  return members;
}
