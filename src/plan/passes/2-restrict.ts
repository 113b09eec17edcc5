import { Pace, type Steps } from "../../base/steps.ts";
import { type Formula, mentionedNodes, type Network, type Node } from "../network.ts";
import type { SubjectKind } from "../question.ts";

/** A network as subjects of one kind see it. */
export interface RestrictedNetwork {
  readonly network: Network;
  readonly kind: SubjectKind;
  /** By the id of a node: 0 where it can hold for no subject of the kind, else 1. */
  readonly possible: Uint8Array;
  /** By component: how many permissions and operands its nodes lead through at least. */
  readonly names: Int32Array;
}

/** After this number of sweeps over a component, its other nodes are taken to be possible. */
const sweepsMax = 50;

/**
 * Restricts a network to one kind of subjects: what can hold for none of them, under any data,
 * is no part of their plans.
 *
 * Needs: a network as `lower` makes it, with components numbered from what is led to.
 * Guarantees: a node that is not possible is denied at every entity, and cannot fail. One that is
 * possible may still be denied everywhere.
 */
export function* restrict(network: Network, kind: SubjectKind): Steps<RestrictedNetwork> {
  const possible = new Uint8Array(network.nodes.length);
  const components = orderedComponents(network);
  const names = new Int32Array(components.length);
  const restricted = { network, kind, possible, names };
  const pace = new Pace();
  for (const [number, members] of components) {
    for (let sweep = 0, isSettled = false; !isSettled; sweep += 1) {
      isSettled = true;
      for (const node of members) {
        if (pace.step()) yield;
        if (possible[node.id] === 1) continue;
        if (sweep < sweepsMax && !isPossibleNow(restricted, node)) continue;
        possible[node.id] = 1;
        isSettled = !node.isRecursive;
      }
    }
    let behind = 0;
    let own = 0;
    for (const node of members) {
      if (pace.step()) yield;
      if (possible[node.id] === 0) continue;
      if (isComposite(node)) own += 1;
      for (const { component } of leads(restricted, node.formula)) {
        behind = Math.max(behind, names[component] ?? 0);
      }
    }
    names[number] = own + behind;
  }
  return restricted;
}

type OrderedComponents = readonly (readonly [number: number, members: readonly Node[]])[];

/** Each network is restricted to many kinds of subjects. */
const knownComponents = new WeakMap<Network, OrderedComponents>();

/** The nodes by their components, each behind those that it leads to. */
function orderedComponents(network: Network): OrderedComponents {
  const known = knownComponents.get(network);
  if (known !== undefined) return known;
  const components = [...Map.groupBy(network.nodes, ({ component }) => component)];
  components.sort(([a], [b]) => a - b);
  knownComponents.set(network, components);
  return components;
}

/** A bound, from below, of the permissions and operands that a node leads through. */
export function leastNames({ names }: RestrictedNetwork, { component }: Node): number {
  return names[component] ?? 0;
}

/** A permission or an operand with an operator of its own. */
export function isComposite({ formula: { kind } }: Node): boolean {
  return kind === "and" || kind === "not" || kind === "or";
}

/** The possible nodes that a formula needs to be looked at. */
function* leads(restricted: RestrictedNetwork, formula: Formula): Iterable<Node> {
  if (formula.kind === "or") {
    for (const operand of formula.operands) yield* leads(restricted, operand);
  } else if (isFormulaPossible(restricted, formula)) {
    for (const node of mentionedNodes(formula)) if (isPossible(restricted, node)) yield node;
  }
}

type Restriction = Pick<RestrictedNetwork, "possible" | "names">;

/** Each network is asked as a whole by every explanation. */
const wholes = new WeakMap<Network, Restriction>();

/** The whole network, for a question about every subject at once. */
export function unrestricted(network: Network, kind: SubjectKind): RestrictedNetwork {
  let whole = wholes.get(network);
  if (whole === undefined) {
    const { length } = network.nodes;
    whole = { possible: new Uint8Array(length).fill(1), names: new Int32Array(length) };
    wholes.set(network, whole);
  }
  return { network, kind, ...whole };
}

export function isPossible({ possible }: RestrictedNetwork, { id }: Node): boolean {
  // The node of a rule that is asked by itself is none of the network's.
  return possible[id] !== 0;
}

/** Whether the asked subject may stand in the relation itself. */
export function holdsDirectly(
  { kind }: RestrictedNetwork,
  { types }: Extract<Formula, { kind: "relation" }>,
): boolean {
  return types.some(
    ({ type, relation }) => type === kind.subjectType && relation === kind.subjectRelation,
  );
}

/** Whether the node may be the asked subject itself, a userset. */
export function isSubjectNode({ kind }: RestrictedNetwork, node: Node): boolean {
  return (
    !node.isOperand && node.entityType === kind.subjectType && node.name === kind.subjectRelation
  );
}

function isPossibleNow(restricted: RestrictedNetwork, node: Node): boolean {
  return isSubjectNode(restricted, node) || isFormulaPossible(restricted, node.formula);
}

function isFormulaPossible(restricted: RestrictedNetwork, formula: Formula): boolean {
  const holds = (node: Node): boolean => isPossible(restricted, node);
  switch (formula.kind) {
    case "or":
      return formula.operands.some((operand) => isFormulaPossible(restricted, operand));
    case "and":
      return formula.operands.every(holds);
    case "not":
      return holds(formula.left);
    case "node":
      return holds(formula.node);
    case "relation":
      return holdsDirectly(restricted, formula) || formula.usersets.some(holds);
    case "walk":
      return formula.targets.some(holds);
    case "attribute":
    case "rule":
      return true;
  }
}
