import { componentsOf } from "../base/graph.ts";
import { runThrough } from "../base/steps.ts";
import { operationsOf, permissionsOf, operandsOf } from "./operand.ts";
import { relationOf, type SchemaScope, scopeOf } from "./scope.ts";
import type { Position } from "./source.ts";
import type { SchemaTree, InvocationNode, OperationNode, ReferenceNode } from "./tree.ts";

/** A part of a schema that compiles but may not mean what its author thinks. */
export interface Warning {
  readonly code: "mixed-operators" | "negated-recursion";
  readonly position: Position;
  readonly message: string;
}

/** Lists what is legal but doubtful in a schema that compiles, in the order of the text. */
export function lintSchema(tree: SchemaTree): readonly Warning[] {
  return [...warnOfMixedOperators(tree), ...warnOfNegatedRecursion(tree)].sort(
    ({ position: one }, { position: other }) => one.line - other.line || one.column - other.column,
  );
}

/** Warns of different operators in a row: many readers expect `and` to bind closer than `or`. */
function* warnOfMixedOperators(tree: SchemaTree): Generator<Warning> {
  for (const { permission } of permissionsOf(tree)) {
    for (const { kind, left, position } of operationsOf(permission.expression)) {
      if (!("grouped" in left) || left.grouped || left.kind === kind) continue;
      yield {
        code: "mixed-operators",
        position,
        message: `\`${kind}\` after \`${left.kind}\` applies to everything before it, since operators are read from the left: parentheses would say so`,
      };
    }
  }
}

/** One permission depends on another. Both are written `type#name`. */
interface Dependency {
  readonly from: string;
  readonly to: string;
  readonly negatedBy: OperationNode | undefined;
}

/** Warns of permissions that need their own denial: they have no answer on data with a cycle. */
function* warnOfNegatedRecursion(tree: SchemaTree): Generator<Warning> {
  const dependencies = [...dependenciesOf(tree)];
  const components = componentNumbers(dependencies);
  const seen = new Set<OperationNode>();
  for (const { from, to, negatedBy } of dependencies) {
    if (negatedBy === undefined || seen.has(negatedBy)) continue;
    if (components.get(from) !== components.get(to)) continue;
    seen.add(negatedBy);
    yield {
      code: "negated-recursion",
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
  scope: SchemaScope,
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

/** Numbers the permissions. Two have the same number if each depends on the other. */
function componentNumbers(dependencies: readonly Dependency[]): ReadonlyMap<string, number> {
  const targets = Map.groupBy(dependencies, ({ from }) => from);
  const next = (from: string): string[] => targets.get(from)?.map(({ to }) => to) ?? [];
  const components = runThrough(componentsOf(targets.keys(), next));
  return new Map(
    components.flatMap(({ members }, number) => members.map((member) => [member, number] as const)),
  );
}
