import type { Verdict } from "../base/verdict.ts";
import type { Guard, SearchPlan } from "../plan/plan.ts";

/** What is known of a node: how many hops it is from a test that accepts, or that none can be reached. */
export type KnownNode = number | "dead";

/**
 * What searches of one plan for one subject found out over the same facts, for the next ones. It must be cleared after a search with a fault: the next one has to meet the
 * fault itself.
 */
export class SearchMemo {
  /** Verdicts of guards. */
  readonly judged = new Map<string, Verdict>();
  readonly #nodes: Map<string, KnownNode> | undefined;

  /** `plan`: of the searches; undefined for a search alone, of whose nodes nothing is kept. */
  constructor(plan: SearchPlan | undefined) {
    this.#nodes = plan !== undefined && isSteady(plan) ? new Map() : undefined;
  }

  get keepsNodes(): boolean {
    return this.#nodes !== undefined;
  }

  /** Of a node that a hop leads to. */
  find(node: string): KnownNode | undefined {
    return this.#nodes?.get(node);
  }

  /** The node stands on a definite path, so many hops before the test that accepts. */
  accepts(node: string, hops: number): void {
    const known = this.#nodes?.get(node);
    if (typeof known !== "number" || hops < known) this.#nodes?.set(node, hops);
  }

  /** No path leads from the nodes to a test that accepts or fails. */
  deny(nodes: Iterable<string>): void {
    for (const node of nodes) this.#nodes?.set(node, "dead");
  }

  clear(): void {
    this.judged.clear();
    this.#nodes?.clear();
  }
}

/**
 * Whether what lies behind a node that a hop leads to is the same however many hops led there: no guard
 * there has a path of its own, which could get too long.
 */
function isSteady({ states }: SearchPlan): boolean {
  const targets = new Set(states.flatMap(({ hops }) => hops.map(({ target }) => target)));
  const isLocal = (guard: Guard): boolean => states[guard.state]?.hops.length === 0;
  return states
    .filter(({ id }) => targets.has(id))
    .every(({ arrival, tests, hops }) =>
      [...arrival, ...[...tests, ...hops].flatMap(({ guards }) => guards)].every(isLocal),
    );
}
