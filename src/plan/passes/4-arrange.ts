import { assert, must } from "../../base/assert.ts";
import type { Node } from "../network.ts";
import type {
  AskedNetwork,
  Guard,
  GuardedHop,
  GuardedTest,
  SearchPlan,
  State,
  Test,
  Userset,
} from "../plan.ts";
import { holdsDirectly, isPossible, isSubjectNode, type RestrictedNetwork } from "./2-restrict.ts";
import type { Automaton, OpenBranch, OpenState } from "./automaton.ts";

/**
 * Arranges an automaton as a search plan: states are numbered as they are reached, guards that all
 * branches of a state share become its arrival guards, and the usersets that userset hops lead to are
 * listed for the search from the subject's end.
 *
 * Needs: an automaton as `unfold` makes it, of the same network.
 * Guarantees: what `validatePlan` checks.
 */
export function arrange(asked: AskedNetwork, automaton: Automaton): SearchPlan {
  const { network } = asked;
  const numbers = reachedStates(automaton);
  const usersets = new UsersetTable(network);
  const states = [...numbers].map(([open, id]) =>
    arrangeState(id, must(automaton.states[open], "a reached state exists"), { numbers, usersets }),
  );
  return { ...asked, kind: "search", states, usersets: usersets.list() };
}

/** Old number to new number, in the order in which the states are reached. */
function reachedStates({ states }: Automaton): ReadonlyMap<number, number> {
  const numbers = new Map([[0, 0]]);
  for (const id of numbers.keys()) {
    const { branches } = must(states[id], "a reached state exists");
    const targets = [
      ...branches.flatMap((branch) =>
        [...branch.usersets, ...branch.walks].flatMap(({ target }) => [
          target,
          ...guardStates(branch),
        ]),
      ),
      ...branches.flatMap(guardStates),
    ];
    for (const target of targets) if (!numbers.has(target)) numbers.set(target, numbers.size);
  }
  return numbers;
}

function guardStates({ guards }: OpenBranch): readonly number[] {
  return guards.map(({ state }) => state);
}

interface Arranging {
  readonly numbers: ReadonlyMap<number, number>;
  readonly usersets: UsersetTable;
}

function arrangeState(id: number, open: OpenState, arranging: Arranging): State {
  const number = (state: number): number =>
    must(arranging.numbers.get(state), "a state that is mentioned has a number");
  const branches = open.branches.map((branch) => ({
    branch,
    guards: branch.guards.map((guard): Guard => ({ ...guard, state: number(guard.state) })),
  }));
  const arrival = sharedGuards(branches.map(({ guards }) => guards));
  const ownGuards = (guards: readonly Guard[]): Guard[] =>
    guards.filter((guard) => !arrival.some((shared) => isSame(shared, guard)));
  return {
    id,
    entityType: open.entityType,
    label: open.label,
    arrival,
    tests: branches.flatMap(({ branch, guards }) =>
      testsOf(branch).map((test): GuardedTest => ({ guards: ownGuards(guards), test })),
    ),
    hops: branches.flatMap(({ branch, guards }) =>
      hopsOf(branch, arranging.usersets).map(({ hop, target }) => ({
        guards: ownGuards(guards),
        hop,
        target: number(target),
      })),
    ),
  };
}

/** The cheap tests first: self needs no data, direct tuples are one probe, rules come last. */
function testsOf({ isSelf, direct, attributes, rules }: OpenBranch): Test[] {
  return [
    ...(isSelf ? [{ kind: "self" } as const] : []),
    ...(direct.length > 0 ? [{ kind: "direct", relations: direct } as const] : []),
    ...attributes.map((name) => ({ kind: "attribute", name }) as const),
    ...rules.map((rule) => ({ kind: "rule", rule }) as const),
  ];
}

function hopsOf(branch: OpenBranch, usersets: UsersetTable): Omit<GuardedHop, "guards">[] {
  return [
    ...branch.usersets.map(({ relations, node, target }) => ({
      hop: {
        kind: "userset" as const,
        relations,
        subjectType: node.entityType,
        subjectRelation: node.name,
        userset: usersets.intern(node),
      },
      target,
    })),
    ...branch.walks.map(({ relations, node, target }) => ({
      hop: { kind: "walk" as const, relations, subjectType: node.entityType },
      target,
    })),
  ];
}

function sharedGuards(all: readonly (readonly Guard[])[]): Guard[] {
  const [first = [], ...others] = all;
  return first.filter((guard) =>
    others.every((guards) => guards.some((other) => isSame(other, guard))),
  );
}

function isSame(a: Guard, b: Guard): boolean {
  return a.state === b.state && a.polarity === b.polarity;
}

/** The usersets of the plan with the usersets that may stand in them. */
class UsersetTable {
  readonly #network: RestrictedNetwork;
  readonly #ids = new Map<Node, number>();

  constructor(network: RestrictedNetwork) {
    this.#network = network;
  }

  intern(node: Node): number {
    const id = this.#ids.get(node) ?? this.#ids.size;
    this.#ids.set(node, id);
    return id;
  }

  list(): Userset[] {
    const usersets: Userset[] = [];
    // Grows while it is read: the members of a userset are usersets of the plan, too.
    for (const node of this.#ids.keys()) {
      const { entityType, name: relation, formula } = node;
      assert(formula.kind === "relation", "a userset type names a relation");
      usersets.push({
        entityType,
        relation,
        direct: holdsDirectly(this.#network, formula),
        self: isSubjectNode(this.#network, node),
        members: formula.usersets
          .filter((member) => isPossible(this.#network, member))
          .map((member) => this.intern(member)),
      });
    }
    return usersets;
  }
}
