import { must } from "../base/assert.ts";
import { componentsOf } from "../base/graph.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../base/verdict.ts";
import type { Node } from "../plan/network.ts";
import type { RestrictedNetwork } from "../plan/passes/2-restrict.ts";
import type { GatherPlan } from "../plan/plan.ts";
import type { Circuit, Gate } from "./circuit.ts";
import { groundNetwork } from "./ground.ts";
import type { EvaluationInput } from "./judge.ts";
import { findModel, type Model } from "./model.ts";

export interface Solution {
  readonly verdict: Verdict;
  readonly nodes: number;
  /** When the answer is undefined: the nodes of a cycle through a negation, as `type:id#name`. */
  readonly cycle: readonly string[];
  /** Whether an answer is unknown only because the depth is not enough: found when it is asked. */
  readonly isTooDeep: () => Steps<boolean>;
}

/**
 * Solves a gather plan by the well-founded model of its network. What that leaves unknown rests on a
 * fault, on a path that is too long, or on a cycle through a negation. Undefined when more entities
 * lead to the answer than are looked at for one.
 */
export function* solveNetwork(
  plan: GatherPlan,
  asked: EvaluationInput,
): Steps<Solution | undefined> {
  const circuit = yield* groundNetwork(plan.network, [plan.root], asked);
  if (circuit === undefined) return undefined;
  const model = yield* findModel(circuit, ({ verdict, level }) =>
    verdict === ALLOWED && level > asked.depth ? UNKNOWN : verdict,
  );
  const isTooDeep = function* (): Steps<boolean> {
    const boundless = yield* findModel(circuit, ({ verdict }) => verdict);
    return boundless[0] !== UNKNOWN;
  };
  const answer = { nodes: circuit.nodeCount, cycle: [], isTooDeep };
  switch (must(model[0], "the question is a gate")) {
    case DENIED:
      return { ...answer, verdict: DENIED };
    case ALLOWED: {
      const shown = yield* shownWithin(asked.depth, circuit, model);
      return { ...answer, verdict: shown.has(0) ? ALLOWED : UNKNOWN };
    }
    case UNKNOWN:
      return { ...answer, verdict: UNKNOWN, cycle: yield* undefinedCycle(circuit) };
  }
}

/**
 * Solves several names of one entity together, whose networks are for the most part the same: the
 * answers of those for which neither the depth nor a fault nor a cycle matters, none when they are
 * too much together. The others are to be solved one by one.
 *
 * Needs: roots without repeats.
 */
export function* solveTogether(
  network: RestrictedNetwork,
  roots: readonly Node[],
  asked: EvaluationInput,
): Steps<ReadonlyMap<Node, boolean>> {
  const answers = new Map<Node, boolean>();
  const circuit = yield* groundNetwork(network, roots, asked);
  if (circuit === undefined) return answers;
  const model = yield* findModel(circuit, ({ verdict }) => verdict);
  const hops = yield* mostHops(circuit);
  for (const [id, root] of roots.entries()) {
    // Levels are those of the nearest root: only where no path can be too long do they not matter.
    if (must(hops[id], "a root is a gate") > asked.depth) continue;
    if (model[id] !== UNKNOWN) answers.set(root, model[id] === ALLOWED);
  }
  return answers;
}

/**
 * The gates that hold by a path of at most `depth` hops, through nested operands too: the least hops
 * over `or`, the most over `and`. An absent operand of `not` needs no path.
 */
function* shownWithin(
  depth: number,
  { gates, users }: Circuit,
  model: Model,
): Steps<ReadonlySet<number>> {
  const pace = new Pace();
  const shown = new Set<number>();
  const waiting = gates.map((gate) => (gate.kind === "and" ? gate.inputs.length : 1));
  let near: number[] = [];
  for (const [id, gate] of gates.entries()) {
    if (pace.step()) yield;
    if (gate.kind === "value") near.push(id);
  }
  for (let hops = 0; near.length > 0 && hops <= depth; hops += 1) {
    const far: number[] = [];
    // Grows while it is read. A gate is in it once for each input that was shown.
    for (const id of near) {
      if (pace.step()) yield;
      if (model[id] !== ALLOWED || shown.has(id)) continue;
      const left = must(waiting[id], "every gate waits for its inputs") - 1;
      waiting[id] = left;
      if (left > 0) continue;
      shown.add(id);
      for (const user of users[id] ?? []) (hopsOf(gates[user]) === 0 ? near : far).push(user);
    }
    near = far;
  }
  return shown;
}

/** By gate, a bound of the hops of any path from it that meets no gate twice. */
function* mostHops({ gates }: Circuit): Steps<readonly number[]> {
  const pace = new Pace();
  const most = gates.map(() => 0);
  const gateOf = (id: number): Gate => must(gates[id], "gates refer to each other");
  const components = yield* componentsOf(gates.keys(), (id) => gateOf(id).inputs);
  for (const { members, isCyclic } of components) {
    const own = new Set(members);
    let beyond = 0;
    let within = 0;
    for (const id of members) {
      const gate = gateOf(id);
      for (const input of gate.inputs) {
        if (pace.step()) yield;
        const hops = hopsOf(gate);
        if (own.has(input)) within += hops;
        else
          beyond = Math.max(beyond, hops + must(most[input], "a component is behind its inputs"));
      }
    }
    const paths = isCyclic ? Math.min(within, members.length) : 0;
    for (const id of members) most[id] = beyond + paths;
  }
  return most;
}

/** From a gate to each of its inputs. */
function hopsOf(gate: Gate | undefined): 0 | 1 {
  return gate?.kind === "hop" ? 1 : 0;
}

/**
 * The cycle that leaves the question undefined for every value of the faulty tests. Empty when a
 * fault or the depth leaves it undefined.
 */
function* undefinedCycle(circuit: Circuit): Steps<string[]> {
  // Unknown tests get each value in turn. A gate that stays unknown is so because of a cycle.
  for (const known of [DENIED, ALLOWED] satisfies Verdict[]) {
    const model = yield* findModel(circuit, ({ verdict }) =>
      verdict === UNKNOWN ? known : verdict,
    );
    if (model[0] === UNKNOWN) return cycleFrom(0, circuit, model);
  }
  return [];
}

/** The labels of the cycle that the first undecided path from a node runs into. */
function cycleFrom(start: number, circuit: Circuit, model: Model): string[] {
  const path = new Map<number, string>();
  let id = start;
  while (!path.has(id)) {
    const { node, entity } = must(circuit.nodes[id], "a path leads from node to node");
    path.set(id, `${entity.type}:${entity.id}#${node.name}`);
    const open = mentionedNodes(circuit, id).find((next) => model[next] === UNKNOWN);
    id = must(open, "an undecided node mentions another one");
  }
  const cycle = [...path.keys()];
  const labels = [...cycle.slice(cycle.indexOf(id)), id].map((at) => path.get(at) ?? "");
  // An operand has a node of its own under the label of its name.
  const distinct = labels.filter((label, index) => label !== labels[index - 1]);
  return distinct.length === 1 ? [...distinct, ...distinct] : distinct;
}

/** The nodes in the formula of a gate, in their order. */
function mentionedNodes(circuit: Circuit, id: number): readonly number[] {
  const { inputs } = must(circuit.gates[id], "gates refer to each other");
  return inputs.flatMap((input) =>
    circuit.nodes[input] === undefined ? mentionedNodes(circuit, input) : [input],
  );
}
