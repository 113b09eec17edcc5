import { unreachable } from "../base/assert.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../base/verdict.ts";
import type { NetworkPlan } from "../plan/plan.ts";
import { groundNetwork, type GroundFormula, type GroundNode } from "./ground.ts";
import type { Asked } from "./judge.ts";

export interface Solution {
  readonly verdict: Verdict;
  readonly nodes: number;
  /** When the answer is undefined: the nodes of a cycle through a negation, as `type:id#name`. */
  readonly cycle: readonly string[];
}

/**
 * Solves a network plan by its well-founded model (Van Gelder's alternating fixpoint): what is
 * sure and what is possible are computed in turn, each from the other, until neither moves. What
 * is possible but not sure rests on a fault, on a path that is too long, or on a cycle through a
 * negation. Undefined when more entities lead to the answer than are looked at for one.
 */
export function solveNetwork(plan: NetworkPlan, asked: Asked): Solution | undefined {
  const nodes = groundNetwork(plan, asked);
  if (nodes === undefined) return undefined;
  const model = findModel(nodes, (node, verdict) =>
    verdict === ALLOWED && node.level > asked.depth ? UNKNOWN : verdict,
  );
  const answer = { nodes: nodes.length, cycle: [] };
  if (model.sure.has(0)) {
    const isShort = truthCost(nodes, model) <= asked.depth;
    return { ...answer, verdict: isShort ? ALLOWED : UNKNOWN };
  }
  if (!model.possible.has(0)) return { ...answer, verdict: DENIED };
  return { ...answer, verdict: UNKNOWN, cycle: undefinedCycle(nodes) };
}

/** How a judged test counts at its node. */
type Reading = (node: GroundNode, verdict: Verdict) => Verdict;

type Mode = "sure" | "possible";

type Model = { readonly [mode in Mode]: ReadonlySet<number> };

function findModel(nodes: readonly GroundNode[], read: Reading): Model {
  const users = usersOf(nodes);
  let sure: ReadonlySet<number> = new Set<number>();
  for (;;) {
    const possible = leastSet({ nodes, users, read, mode: "possible", other: sure });
    const next = leastSet({ nodes, users, read, mode: "sure", other: possible });
    if (next.size === sure.size) return { sure, possible };
    sure = next;
  }
}

/**
 * The least set of nodes whose formulas hold in the mode, where the right operand of a `not` is
 * judged in the other mode, by a set that stands still.
 */
function leastSet(input: {
  readonly nodes: readonly GroundNode[];
  readonly users: ReadonlyMap<number, readonly GroundNode[]>;
  readonly read: Reading;
  readonly mode: Mode;
  readonly other: ReadonlySet<number>;
}): ReadonlySet<number> {
  const { users, read, mode, other } = input;
  const own = new Set<number>();
  const model: Model =
    mode === "sure" ? { sure: own, possible: other } : { sure: other, possible: own };
  const queue = input.nodes.toReversed();
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (own.has(node.id) || !holds({ node, model, read }, node.formula, mode)) continue;
    own.add(node.id);
    for (const user of users.get(node.id) ?? []) queue.push(user);
  }
  return own;
}

interface Place {
  readonly node: GroundNode;
  readonly model: Model;
  readonly read: Reading;
}

function holds(place: Place, formula: GroundFormula, mode: Mode): boolean {
  switch (formula.kind) {
    case "or":
      return formula.operands.some((operand) => holds(place, operand, mode));
    case "and":
      return formula.operands.every((operand) => holds(place, operand, mode));
    case "not":
      return (
        holds(place, formula.left, mode) &&
        !holds(place, formula.right, mode === "sure" ? "possible" : "sure")
      );
    case "value": {
      const verdict = place.read(place.node, formula.verdict);
      return mode === "sure" ? verdict === ALLOWED : verdict !== DENIED;
    }
    case "node":
      return place.model[mode].has(formula.node);
    default:
      return unreachable(formula);
  }
}

/** The nodes whose formulas mention a node: those to look at again when it is found to hold. */
function usersOf(nodes: readonly GroundNode[]): Map<number, GroundNode[]> {
  const users = new Map<number, GroundNode[]>();
  for (const node of nodes) {
    for (const mentioned of new Set(mentionedNodes(node.formula))) {
      const list = users.get(mentioned);
      if (list === undefined) users.set(mentioned, [node]);
      else list.push(node);
    }
  }
  return users;
}

function mentionedNodes(formula: GroundFormula): number[] {
  switch (formula.kind) {
    case "or":
    case "and":
      return formula.operands.flatMap(mentionedNodes);
    case "not":
      return [...mentionedNodes(formula.left), ...mentionedNodes(formula.right)];
    case "value":
      return [];
    case "node":
      return [formula.node];
    default:
      return unreachable(formula);
  }
}

/**
 * Hops of the shortest way to show that the question holds (decisions: through nested operands
 * too): the least over `or`, the most over `and`; what is absent needs no path.
 */
function truthCost(nodes: readonly GroundNode[], model: Model): number {
  const costs = new Map<number, number>();
  const users = usersOf(nodes);
  const cost = (node: GroundNode, formula: GroundFormula): number => {
    switch (formula.kind) {
      case "or":
        return formula.operands.reduce(
          (least, operand) => Math.min(least, cost(node, operand)),
          Number.POSITIVE_INFINITY,
        );
      case "and":
        return formula.operands.reduce((most, operand) => Math.max(most, cost(node, operand)), 0);
      case "not": {
        const isExcluded = holds(
          { node, model, read: (_, verdict) => verdict },
          formula.right,
          "possible",
        );
        return isExcluded ? Number.POSITIVE_INFINITY : cost(node, formula.left);
      }
      case "value":
        return formula.verdict === ALLOWED ? 0 : Number.POSITIVE_INFINITY;
      case "node":
        return (costs.get(formula.node) ?? Number.POSITIVE_INFINITY) + formula.hops;
      default:
        return unreachable(formula);
    }
  };
  const queue = nodes.filter((node) => model.sure.has(node.id)).toReversed();
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    const found = cost(node, node.formula);
    if (found >= (costs.get(node.id) ?? Number.POSITIVE_INFINITY)) continue;
    costs.set(node.id, found);
    for (const user of users.get(node.id) ?? []) if (model.sure.has(user.id)) queue.push(user);
  }
  return costs.get(0) ?? Number.POSITIVE_INFINITY;
}

/**
 * The cycle that leaves the question undefined whatever the faults say, or nothing when it is a
 * fault or a depth that does.
 */
function undefinedCycle(nodes: readonly GroundNode[]): string[] {
  const isOpen = (model: Model, id: number): boolean =>
    model.possible.has(id) && !model.sure.has(id);
  // Unknown tests read either way: what stays open then is open because of a cycle.
  for (const known of [DENIED, ALLOWED] satisfies Verdict[]) {
    const model = findModel(nodes, (_, verdict) => (verdict === UNKNOWN ? known : verdict));
    if (!isOpen(model, 0)) continue;
    const path: number[] = [];
    for (let id: number | undefined = 0; id !== undefined && !path.includes(id);) {
      path.push(id);
      const last: number = id;
      const mentioned: number[] = mentionedNodes(nodes[last]?.formula ?? none);
      id = mentioned.find((next) => isOpen(model, next));
      if (id !== undefined && path.includes(id)) {
        const labels = [...path.slice(path.indexOf(id)), id].map((at) => nodes[at]?.label ?? "");
        // An operand has a node of its own under the label of its name.
        const distinct = labels.filter((label, index) => label !== labels[index - 1]);
        return distinct.length === 1 ? [...distinct, ...distinct] : distinct;
      }
    }
  }
  return [];
}

const none: GroundFormula = { kind: "value", verdict: DENIED };
