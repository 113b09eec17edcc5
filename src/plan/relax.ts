import { must } from "../base/assert.ts";
import type {
  Formula,
  GuardedHop,
  Network,
  NetworkHop,
  Plan,
  Question,
  SearchPlan,
  Test,
} from "./plan.ts";

/**
 * A plan without its guards: its search finds every entity and every subject that the plan itself
 * would accept, and others. Both lookups take their candidates from it.
 */
export interface RelaxedPlan {
  readonly question: Question;
  /** By number; state 0 is the question, the others are reached from it by hops. */
  readonly states: ReadonlyMap<number, RelaxedState>;
}

export interface RelaxedState {
  readonly id: number;
  readonly entityType: string;
  readonly tests: readonly RelaxedTest[];
  readonly hops: readonly RelaxedHop[];
}

/** `isSure`: the plan has no guard there, but for the arrival guards of the question itself. */
export interface RelaxedTest {
  readonly test: Test;
  readonly isSure: boolean;
}

export interface RelaxedHop {
  readonly relations: readonly string[];
  readonly subjectType: string;
  /** Undefined in a walk: whatever the subject's relation. */
  readonly subjectRelation: string | undefined;
  readonly target: number;
  readonly isSure: boolean;
}

export function relaxedPlan(plan: Plan): RelaxedPlan {
  const stateOf =
    plan.kind === "search"
      ? (id: number) => searchState(plan, id)
      : (id: number) => networkState(plan.network, id);
  const states = new Map([[0, stateOf(0)]]);
  // Grows while it is read: a state's hops lead to further ones.
  for (const { hops } of states.values()) {
    for (const { target } of hops) if (!states.has(target)) states.set(target, stateOf(target));
  }
  return { question: plan.question, states };
}

function searchState(plan: SearchPlan, id: number): RelaxedState {
  const state = must(plan.states[id], "a plan's states refer to each other");
  const isOpen = ({ guards, target }: GuardedHop): boolean =>
    guards.length === 0 && plan.states[target]?.arrival.length === 0;
  return {
    id,
    entityType: state.entityType,
    tests: state.tests.map(({ guards, test }) => ({ test, isSure: guards.length === 0 })),
    hops: state.hops.map((guarded) => ({
      relations: guarded.hop.relations,
      subjectType: guarded.hop.subjectType,
      subjectRelation: guarded.hop.kind === "userset" ? guarded.hop.subjectRelation : undefined,
      target: guarded.target,
      isSure: isOpen(guarded),
    })),
  };
}

/** A node with all that it mentions at the same entity. */
function networkState(network: Network, id: number): RelaxedState {
  const { tests, hops } = stepsOf(network, { kind: "node", node: id });
  const direct = tests.flatMap((test) => (test.kind === "direct" ? test.relations : []));
  const others = tests.filter((test) => test.kind !== "direct");
  const all: Test[] =
    direct.length === 0 ? others : [...others, { kind: "direct", relations: [...new Set(direct)] }];
  return {
    id,
    entityType: must(network.nodes[id], "a network's nodes refer to each other").entityType,
    tests: all.map((test) => ({ test, isSure: false })),
    hops: hops.map(({ hop, node }) => ({
      relations: [hop.relation],
      subjectType: hop.subjectType,
      subjectRelation: hop.subjectRelation,
      target: node,
      isSure: false,
    })),
  };
}

interface Steps {
  readonly tests: readonly Test[];
  readonly hops: readonly { readonly hop: NetworkHop; readonly node: number }[];
}

/**
 * The tests and hops of a formula and of the nodes that it mentions at the same entity. Of an `and`
 * one operand is enough, of a `not` the left one.
 */
function stepsOf(network: Network, formula: Formula): Steps {
  const tests: Test[] = [];
  const hops: { readonly hop: NetworkHop; readonly node: number }[] = [];
  const seen = new Set<number>();
  const open: Formula[] = [formula];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    switch (next.kind) {
      case "or":
        open.push(...next.operands);
        break;
      case "and":
        open.push(narrowest(network, next.operands));
        break;
      case "not":
        open.push(next.left);
        break;
      case "test":
        tests.push(next.test);
        break;
      case "hop":
        hops.push(next);
        break;
      case "node":
        if (seen.has(next.node)) break;
        seen.add(next.node);
        open.push(must(network.nodes[next.node], "a network's nodes refer to each other").formula);
        break;
    }
  }
  return { tests, hops };
}

/** The operand that is likely to have the fewest candidates: tuples lead to few, rules to many. */
function narrowest(network: Network, operands: readonly Formula[]): Formula {
  const [first, ...others] = operands;
  let best = must(first, "an `and` has operands");
  for (const other of others) {
    if (breadth(network, other) < breadth(network, best)) best = other;
  }
  return best;
}

function breadth(network: Network, operand: Formula): number {
  const seen = new Set<number>();
  const open: Formula[] = [operand];
  let widest = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    switch (next.kind) {
      case "or":
      case "and":
        open.push(...next.operands);
        break;
      case "not":
        open.push(next.left);
        break;
      case "test":
        if (next.test.kind === "rule") return 2;
        if (next.test.kind === "attribute") widest = 1;
        break;
      case "node":
        if (seen.has(next.node)) break;
        seen.add(next.node);
        open.push(must(network.nodes[next.node], "a network's nodes refer to each other").formula);
        break;
      case "hop":
        break;
    }
  }
  return widest;
}
