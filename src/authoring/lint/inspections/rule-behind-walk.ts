import { operandsOf, permissionsOf } from "../../../language/operand.ts";
import { type Formula, type Network, type Node, reachedNodes } from "../../../plan/network.ts";
import type { LintPlace, Inspection } from "../inspection.ts";

/** Walks to permissions that rules alone decide, without any tuple of the subject. */
export const ruleBehindWalk: Inspection = {
  code: "rule-behind-walk",
  severity: "warning",
  *find({ tree, schema, network }): Iterable<LintPlace> {
    const known = new Map<string, boolean>();
    for (const { type, permission } of permissionsOf(tree)) {
      for (const { leaf } of operandsOf(permission.expression)) {
        if (leaf.kind === "invocation") continue;
        const [name] = leaf.rest;
        if (name === undefined) continue;
        const { text: relation, position } = leaf.first;
        const targets = schema.entities.get(type)?.relations.get(relation)?.types ?? [];
        const found = targets
          .map((target) => `${target.type}#${name.text}`)
          .find((key) => isRuleOnly(network, key, known));
        if (found === undefined) continue;
        yield {
          position,
          message: `\`${found}\` asks rules only, and a relation may have many entities: \`${relation}.${name.text}\` allows every subject as soon as the rules hold for one of them, and a lookup evaluates them for each`,
        };
      }
    }
  },
};

/** Whether the name, written `type#name`, is decided by rules, and by attributes beside them. */
function isRuleOnly(network: Network, key: string, known: Map<string, boolean>): boolean {
  const before = known.get(key);
  if (before !== undefined) return before;
  const [type = "", name = ""] = key.split("#");
  const node = network.byName.get(type)?.get(name);
  const kinds = node === undefined ? new Set() : leafKindsOf(node);
  const answer = kinds.has("rule") && !kinds.has("relation") && !kinds.has("walk");
  known.set(key, answer);
  return answer;
}

/** The kinds of what a node comes to, as far as it needs no other entity. */
function leafKindsOf(root: Node): ReadonlySet<Formula["kind"]> {
  const kinds = new Set<Formula["kind"]>();
  const add = (formula: Formula): void => {
    kinds.add(formula.kind);
    if (formula.kind === "or") formula.operands.forEach(add);
  };
  for (const { formula } of reachedNodes(root)) {
    add(formula);
    if (kinds.has("relation") || kinds.has("walk")) break;
  }
  return kinds;
}
