import { must } from "../../base/assert.ts";
import type { RuleDefinition } from "../../language/schema.ts";
import type { Node } from "../network.ts";
import type { GatherReason } from "../plan.ts";
import { type PlanSize, sizeOfStates, type StateSize } from "./plan-size.ts";

/**
 * What an automaton is for. Of an `and`, a `check` goes through the operand that costs the most to judge, and
 * a `lookup` through the one that is likely to have the fewest candidates. A `superset` has no guards: of
 * an `and` only the narrowest operand is kept, of a `not` the left one, so it accepts all that the network
 * does, and more.
 */
export type UnfoldPurpose = "check" | "lookup" | "superset";

export type Unfolded =
  | {
      readonly kind: "automaton";
      readonly automaton: Automaton;
      readonly size: PlanSize;
      /** For a lookup, the search goes through other operands than that of a check. */
      readonly isNarrowed: boolean;
    }
  | {
      readonly kind: "obstacle";
      readonly reasons: readonly GatherReason[];
      /** The names with known obstacles that it leads to. */
      readonly known: readonly Node[];
    };

export interface UnfoldOptions {
  readonly purpose: UnfoldPurpose;
  /** Names that are known to have obstacles of their own. They are not unfolded, since all that leads to them has them. */
  readonly isObstacle?: (node: Node) => boolean;
}

/** States in the order in which they were found; state 0 is the root. */
export interface Automaton {
  readonly states: readonly OpenState[];
}

/** A set of nodes of one entity type, with all nodes of the same entity inlined. */
export interface OpenState {
  readonly entityType: string;
  /** What is asked there. */
  readonly nodes: readonly Node[];
  readonly label: string;
  /** One for each set of guards. */
  readonly branches: readonly OpenBranch[];
  readonly size: StateSize;
}

/** For people: the name; of an operand the name of the permission that it stands in, marked as such. */
export function labelOf({ name, isOperand, formula }: Node): string {
  return isOperand && formula.kind !== "rule" ? `${name}/operand` : name;
}

/** What the search of a state comes to, if it is asked by itself: the states that it leads to are those of its plan. */
export function sizeFrom({ states }: Automaton, first: number): PlanSize {
  const reached = new Set([first]);
  const sizes: StateSize[] = [];
  // Grows while it is read.
  for (const number of reached) {
    const { branches, size } = must(states[number], "a state leads to states");
    sizes.push(size);
    for (const { guards, usersets, walks } of branches) {
      for (const { state } of guards) reached.add(state);
      for (const { target } of usersets) reached.add(target);
      for (const { target } of walks) reached.add(target);
    }
  }
  return sizeOfStates(sizes);
}

export interface OpenBranch {
  readonly guards: readonly { readonly state: number; readonly polarity: Polarity }[];
  readonly isSelf: boolean;
  readonly direct: readonly string[];
  readonly attributes: readonly string[];
  readonly rules: readonly RuleDefinition[];
  readonly usersets: readonly OpenHop[];
  readonly walks: readonly OpenHop[];
}

export interface OpenHop {
  readonly relations: readonly string[];
  /** The state that it leads to, and a node of it. */
  readonly target: number;
  readonly node: Node;
}

export type Polarity = "required" | "excluded";

/** An operand that must (or must not) hold at the same entity: one object for each of the two. */
export interface NodeGuard {
  readonly node: Node;
  readonly polarity: Polarity;
}

/** What a state does behind one set of guards. */
export interface Branch {
  readonly guards: readonly NodeGuard[];
  isSelf: boolean;
  readonly direct: Set<string>;
  readonly attributes: Set<string>;
  readonly rules: Set<RuleDefinition>;
  readonly usersets: Map<string, BranchHop>;
  readonly walks: Map<string, BranchHop>;
}

export interface BranchHop {
  readonly relations: Set<string>;
  readonly nodes: Set<Node>;
}

/** The branches of a state by their guards, counted as a statement has them. */
export class BranchTable {
  readonly #branches = new Map<string, Branch>();
  /** The same by the lists that were given: most parts share theirs with the part before. */
  readonly #met = new Map<readonly NodeGuard[], Branch>();
  readonly #count: (branches: number) => void;

  constructor(count: (branches: number) => void) {
    this.#count = count;
  }

  /** The branch behind these guards, which gets one more part of that cost. */
  at(guards: readonly NodeGuard[], cost: number): Branch {
    this.#count(cost);
    const met = this.#met.get(guards);
    if (met !== undefined) return met;
    const key = guards
      .map(({ node, polarity }) => `${polarity === "required" ? "" : "-"}${node.id}`)
      .toSorted()
      .join(" ");
    let branch = this.#branches.get(key);
    if (branch === undefined) {
      this.#count(1 + guards.length);
      branch = {
        guards,
        isSelf: false,
        direct: new Set(),
        attributes: new Set(),
        rules: new Set(),
        usersets: new Map(),
        walks: new Map(),
      };
      this.#branches.set(key, branch);
    }
    this.#met.set(guards, branch);
    return branch;
  }

  addHop(
    guards: readonly NodeGuard[],
    kind: "usersets" | "walks",
    key: string,
    { relation, node }: { readonly relation: string; readonly node: Node },
  ): void {
    const hops = this.at(guards, 0)[kind];
    const hop = hops.get(key);
    if (hop === undefined) {
      this.#count(1);
      hops.set(key, { relations: new Set([relation]), nodes: new Set([node]) });
      return;
    }
    hop.relations.add(relation);
    hop.nodes.add(node);
  }

  list(): readonly Branch[] {
    return [...this.#branches.values()];
  }
}
