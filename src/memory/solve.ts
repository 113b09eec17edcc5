import { must, unreachable } from "../base/assert.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../base/verdict.ts";
import type { NetworkPlan } from "../plan/plan.ts";
import { layOut, type Circuit } from "./circuit.ts";
import { groundNetwork, type GroundFormula, type GroundNode } from "./ground.ts";
import type { Asked } from "./judge.ts";
import { findModel, type Model } from "./model.ts";
import type { Steps } from "./pace.ts";

export interface Solution {
  readonly verdict: Verdict;
  readonly nodes: number;
  /** When the answer is undefined: the nodes of a cycle through a negation, as `type:id#name`. */
  readonly cycle: readonly string[];
  /** Whether an answer is unknown only because the depth is not enough: found when it is asked. */
  readonly isTooDeep: () => boolean;
}

/**
 * Solves a network plan by its well-founded model. What that leaves unknown rests on a fault, on a
 * path that is too long, or on a cycle through a negation. Undefined when more entities lead to the
 * answer than are looked at for one.
 */
export function* solveNetwork(plan: NetworkPlan, asked: Asked): Steps<Solution | undefined> {
  const nodes = yield* groundNetwork(plan, asked);
  if (nodes === undefined) return undefined;
  const circuit = layOut(nodes);
  const model = findModel(circuit, ({ verdict, level }) =>
    verdict === ALLOWED && level > asked.depth ? UNKNOWN : verdict,
  );
  const isTooDeep = (): boolean => findModel(circuit, ({ verdict }) => verdict)[0] !== UNKNOWN;
  const answer = { nodes: nodes.length, cycle: [], isTooDeep };
  switch (must(model[0], "the question is a gate")) {
    case DENIED:
      return { ...answer, verdict: DENIED };
    case ALLOWED: {
      const isShort = isShownWithin(asked.depth, circuit, model);
      return { ...answer, verdict: isShort ? ALLOWED : UNKNOWN };
    }
    case UNKNOWN:
      return { ...answer, verdict: UNKNOWN, cycle: undefinedCycle(nodes, circuit) };
  }
}

/**
 * Whether the shortest way to show that the question holds is of so many hops (decisions: through
 * nested operands too): the least over `or`, the most over `and`; what is absent needs no path.
 */
function isShownWithin(depth: number, { gates, users }: Circuit, model: Model): boolean {
  const shown = new Set<number>();
  const waiting = gates.map((gate) => (gate.kind === "and" ? gate.inputs.length : 1));
  let near = [...gates.keys()].filter((id) => gates[id]?.kind === "value");
  for (let hops = 0; near.length > 0 && hops <= depth; hops += 1) {
    const far: number[] = [];
    // Grows while it is read. A gate stands in it once for each input that was shown.
    for (const id of near) {
      if (model[id] !== ALLOWED || shown.has(id)) continue;
      const left = must(waiting[id], "every gate waits for its inputs") - 1;
      waiting[id] = left;
      if (left > 0) continue;
      if (id === 0) return true;
      shown.add(id);
      for (const user of users[id] ?? []) (user.hops === 0 ? near : far).push(user.gate);
    }
    near = far;
  }
  return false;
}

/**
 * The cycle that leaves the question undefined whatever the faults say, or nothing when it is a
 * fault or a depth that does.
 */
function undefinedCycle(nodes: readonly GroundNode[], circuit: Circuit): string[] {
  // Unknown tests read either way: what stays open then is open because of a cycle.
  for (const known of [DENIED, ALLOWED] satisfies Verdict[]) {
    const model = findModel(circuit, ({ verdict }) => (verdict === UNKNOWN ? known : verdict));
    if (model[0] === UNKNOWN) return cycleFrom(0, nodes, model);
  }
  return [];
}

/** The labels of the cycle that the first undecided way from a node runs into. */
function cycleFrom(start: number, nodes: readonly GroundNode[], model: Model): string[] {
  const path = new Map<number, string>();
  let id = start;
  while (!path.has(id)) {
    const { label, formula } = must(nodes[id], "nodes refer to each other");
    path.set(id, label);
    const open = mentionedNodes(formula).find((next) => model[next] === UNKNOWN);
    id = must(open, "an undecided node mentions another one");
  }
  const cycle = [...path.keys()];
  const labels = [...cycle.slice(cycle.indexOf(id)), id].map((at) => path.get(at) ?? "");
  // An operand has a node of its own under the label of its name.
  const distinct = labels.filter((label, index) => label !== labels[index - 1]);
  return distinct.length === 1 ? [...distinct, ...distinct] : distinct;
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
