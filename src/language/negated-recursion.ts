import { componentsOf } from "../base/graph.ts";
import { runThrough } from "../base/steps.ts";
import { operandsOf, permissionsOf } from "./operand.ts";
import { relationOf, type Scope, scopeOf } from "./scope.ts";
import type { InvocationNode, OperationNode, ReferenceNode, SchemaTree } from "./tree.ts";
import type { Warning } from "./warning.ts";

/** One permission asks another; both are written `type#name`. */
interface Dependency {
  readonly from: string;
  readonly to: string;
  readonly negatedBy: OperationNode | undefined;
}

/** A permission that needs its own denial has no answer on data that leads back to it. */
export function* warnOfNegatedRecursion(tree: SchemaTree): Generator<Warning> {
  const dependencies = [...dependenciesOf(tree)];
  const components = componentNumbers(dependencies);
  const seen = new Set<OperationNode>();
  for (const { from, to, negatedBy } of dependencies) {
    if (negatedBy === undefined || seen.has(negatedBy)) continue;
    if (components.get(from) !== components.get(to)) continue;
    seen.add(negatedBy);
    yield {
      position: negatedBy.position,
      message: `permission \`${from}\` depends on its own denial through \`${to}\`: where data leads back to the same entity, a check has no answer`,
    };
  }
}

function* dependenciesOf(tree: SchemaTree): Generator<Dependency> {
  const scope = scopeOf(tree);
  for (const { type, permission } of permissionsOf(tree)) {
    const from = `${type}#${permission.name.text}`;
    for (const { leaf, negatedBy } of operandsOf(permission.expression)) {
      for (const to of permissionsBehind(scope, type, leaf)) yield { from, to, negatedBy };
    }
  }
}

function permissionsBehind(
  scope: Scope,
  type: string,
  leaf: ReferenceNode | InvocationNode,
): readonly string[] {
  if (leaf.kind === "invocation") return [];
  const [name] = leaf.rest;
  const asked =
    name === undefined
      ? [{ type, name: leaf.first.text }]
      : (relationOf(scope, type, leaf.first.text)?.types ?? []).map((target) => ({
          type: target.type.text,
          name: name.text,
        }));
  return asked
    .filter((one) => scope.entities.get(one.type)?.members.get(one.name)?.kind === "permission")
    .map((one) => `${one.type}#${one.name}`);
}

/** A number for each permission; two have the same when each depends on the other. */
function componentNumbers(dependencies: readonly Dependency[]): ReadonlyMap<string, number> {
  const targets = Map.groupBy(dependencies, ({ from }) => from);
  const next = (from: string): string[] => targets.get(from)?.map(({ to }) => to) ?? [];
  const components = runThrough(componentsOf(targets.keys(), next));
  return new Map(
    components.flatMap(({ members }, number) => members.map((member) => [member, number] as const)),
  );
}
