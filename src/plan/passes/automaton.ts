import type { RuleDefinition } from "../../language/schema.ts";
import type { Node } from "../network.ts";

/** States in the order in which they were found; state 0 is the root. */
export interface Automaton {
  readonly states: readonly OpenState[];
}

/** A set of nodes of one entity type, with all nodes of the same entity inlined. */
export interface OpenState {
  readonly entityType: string;
  readonly label: string;
  /** One for each set of guards. */
  readonly branches: readonly OpenBranch[];
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
