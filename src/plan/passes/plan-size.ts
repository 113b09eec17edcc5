import { planMax } from "../limit.ts";
import type { Node } from "../network.ts";

/** How much a plan has of each part that `planMax` bounds. */
export type PlanSize = Readonly<Record<keyof typeof planMax, number>>;

/** What one state adds to the size of a plan. */
export type StateSize = Readonly<StateCounts>;

interface StateCounts {
  branches: number;
  visits: number;
  leaves: number;
  guards: number;
  /** Of `names` at least. */
  names: number;
  /** The permissions and operands with operators of their own that it leads through. */
  readonly composites: Set<Node>;
}

/** Thrown when a plan passes its bounds, and caught by `unfold`. */
export class TooLarge extends Error {}

/** Counts the parts of a plan while it is unfolded, state by state. Throws TooLarge past a bound. */
export class PlanCounter {
  readonly #size = { states: 0, branches: 0, guards: 0, names: 0, visits: 0, leaves: 0 };
  readonly #composites = new Set<Node>();
  #ofState = noCounts();

  /** The size so far. */
  get size(): PlanSize {
    return { ...this.#size };
  }

  /** Begins with a state. What is counted from now on also counts for what is returned. */
  beginState(): StateSize {
    this.#ofState = noCounts();
    return this.#ofState;
  }

  addState(): void {
    this.#size.states += 1;
    if (this.#size.states > planMax.states) throw new TooLarge();
  }

  /** Counts more of a part. */
  add(part: "branches" | "visits" | "leaves", count: number): void {
    this.#ofState[part] += count;
    this.#size[part] += count;
    if (this.#size[part] > planMax[part]) throw new TooLarge();
  }

  /** Notes one of several counts of a part, of which the largest is bounded. */
  note(part: "guards" | "names", count: number): void {
    if (count > this.#ofState[part]) this.#ofState[part] = count;
    if (count > this.#size[part]) this.#size[part] = count;
    if (count > planMax[part]) throw new TooLarge();
  }

  /** Counts a permission or operand with an operator of its own, the first time that it is met. */
  addComposite(node: Node): void {
    this.#ofState.composites.add(node);
    this.#composites.add(node);
    if (this.#composites.size > this.#size.names) this.#size.names = this.#composites.size;
    if (this.#composites.size > planMax.names) throw new TooLarge();
  }
}

function noCounts(): StateCounts {
  return { branches: 0, visits: 0, leaves: 0, guards: 0, names: 0, composites: new Set() };
}

/** The size of a plan that has these states. */
export function sizeOfStates(states: readonly StateSize[]): PlanSize {
  const size = { states: states.length, branches: 0, guards: 0, names: 0, visits: 0, leaves: 0 };
  const composites = new Set<Node>();
  for (const state of states) {
    size.branches += state.branches;
    size.visits += state.visits;
    size.leaves += state.leaves;
    size.guards = Math.max(size.guards, state.guards);
    size.names = Math.max(size.names, state.names);
    for (const node of state.composites) composites.add(node);
  }
  size.names = Math.max(size.names, composites.size);
  return size;
}
