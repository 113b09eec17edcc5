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
  const components = componentsOf(dependencies);
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
function componentsOf(dependencies: readonly Dependency[]): ReadonlyMap<string, number> {
  const forward = new Map<string, string[]>();
  const backward = new Map<string, string[]>();
  for (const { from, to } of dependencies) {
    addEdge(forward, from, to);
    addEdge(backward, to, from);
  }
  const components = new Map<string, number>();
  // Kosaraju: whoever finishes last comes first, and then takes all that lead to it.
  const finished = finishingOrder(forward.keys(), forward, new Set());
  const seen = new Set<string>();
  for (const root of finished.reverse()) {
    for (const node of finishingOrder([root], backward, seen)) components.set(node, seen.size);
  }
  return components;
}

function addEdge(edges: Map<string, string[]>, from: string, to: string): void {
  const targets = edges.get(from);
  if (targets === undefined) edges.set(from, [to]);
  else targets.push(to);
}

/** The nodes that can be reached and are not seen yet, each behind all that it leads to. */
function finishingOrder(
  roots: Iterable<string>,
  edges: ReadonlyMap<string, readonly string[]>,
  seen: Set<string>,
): string[] {
  const finished: string[] = [];
  for (const root of roots) {
    const path: { readonly node: string; readonly next: Iterator<string> }[] = [];
    const enter = (node: string): void => {
      if (seen.has(node)) return;
      seen.add(node);
      path.push({ node, next: (edges.get(node) ?? []).values() });
    };
    enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { done, value } = top.next.next();
      if (done !== true) {
        enter(value);
      } else {
        finished.push(top.node);
        path.pop();
      }
    }
  }
  return finished;
}
