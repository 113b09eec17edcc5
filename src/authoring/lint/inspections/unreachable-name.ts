import type { EntityDefinition, Schema } from "../../../language/schema.ts";
import { leavesOf, type LeafExpression } from "../../leaf.ts";
import type { LintPlace, Inspection } from "../inspection.ts";

/** Relations, attributes and rules that no permission leads to. */
export const unreachableName: Inspection = {
  code: "unreachable-name",
  severity: "warning",
  *find({ tree, schema }): Iterable<LintPlace> {
    const reached = reachedNames(schema);
    for (const statement of tree.statements) {
      const { text: type, position } = statement.name;
      if (statement.kind === "rule") {
        if (reached.has(type)) continue;
        yield { position, message: `no permission calls rule \`${type}\`` };
        continue;
      }
      for (const { kind, name } of statement.members) {
        if (kind === "permission" || reached.has(memberKey(type, name.text))) continue;
        const message = `no permission leads to ${kind} \`${type}#${name.text}\``;
        yield { position: name.position, message };
      }
    }
  },
};

function memberKey(type: string, name: string): string {
  return `${type}#${name}`;
}

/**
 * The keys of what permissions lead to: `type#name`, or the name of a rule. An entity without permissions is
 * asked by its other names.
 */
function reachedNames(schema: Schema): ReadonlySet<string> {
  const reached = new Set<string>();
  const usersets: string[][] = [];
  const reach = (type: string, name: string): void => {
    const key = memberKey(type, name);
    if (reached.has(key)) return;
    reached.add(key);
    for (const one of schema.entities.get(type)?.relations.get(name)?.types ?? []) {
      if (one.relation !== "") usersets.push([one.type, one.relation]);
    }
  };
  for (const entity of schema.entities.values()) {
    if (entity.permissions.size === 0) {
      for (const name of entity.relations.keys()) reach(entity.name, name);
      for (const [name, type] of entity.attributes) {
        if (type === "boolean") reach(entity.name, name);
      }
    }
    for (const { expression } of entity.permissions.values()) {
      for (const { leaf } of leavesOf(expression)) {
        if (leaf.kind === "call") reached.add(leaf.rule);
        for (const [type, name] of namesOf(entity, leaf)) reach(type, name);
      }
    }
  }
  for (let next = usersets.pop(); next !== undefined; next = usersets.pop()) {
    const [type = "", name = ""] = next;
    reach(type, name);
  }
  return reached;
}

/** The names that an operand asks or reads, each with its type. */
function namesOf(
  entity: EntityDefinition,
  leaf: LeafExpression,
): readonly (readonly [string, string])[] {
  switch (leaf.kind) {
    case "call":
      return leaf.arguments.map((name) => [entity.name, name]);
    case "walk": {
      const types = entity.relations.get(leaf.relation)?.types ?? [];
      return [[entity.name, leaf.relation], ...types.map(({ type }) => [type, leaf.name] as const)];
    }
    case "relation":
    case "permission":
    case "attribute":
      return [[entity.name, leaf.name]];
  }
}
