import { must } from "../../base/assert.ts";
import { Pace, type Steps } from "../../base/steps.ts";
import type { Formula, Node } from "../network.ts";
import { type GatherReason, tooLarge } from "../plan.ts";
import {
  holdsDirectly,
  isComposite,
  isPossible,
  isSubjectNode,
  leastNames,
  type RestrictedNetwork,
} from "./2-restrict.ts";
import {
  type Branch,
  type BranchHop,
  BranchTable,
  labelOf,
  type NodeGuard,
  type OpenBranch,
  type OpenHop,
  type OpenState,
  type Polarity,
  type Unfolded,
  type UnfoldOptions,
  type UnfoldPurpose,
} from "./automaton.ts";
import { PlanCounter, TooLarge } from "./plan-size.ts";

/**
 * Unfolds a network from a root to an automaton: names of the same entity are inlined, one operand of
 * an `and` and the left one of a `not` too, and the others become guards. Hops over the same relation
 * to the same type are one hop to the set of names that they ask, so that one probe serves them all.
 *
 * Needs: a network restricted to the kind of subjects of the question.
 * Guarantees: no state holds what is impossible; a state has one branch for each set of guards, so at
 * most one without any; a guard never leads back to the state that it guards. What cannot be so, or
 * passes the bounds of `planMax`, is an obstacle with its reasons.
 */
export function unfold(
  network: RestrictedNetwork,
  root: Node,
  options: UnfoldOptions,
): Steps<Unfolded> {
  return new Unfolding(network, options).run(root);
}

class Unfolding {
  readonly #network: RestrictedNetwork;
  readonly #purpose: UnfoldPurpose;
  readonly #isObstacle: (node: Node) => boolean;
  readonly #entries: { readonly entityType: string; readonly nodes: readonly Node[] }[] = [];
  readonly #ids = new Map<string, number>();
  readonly #guards = new Map<string, NodeGuard>();
  readonly #reasons = new Map<string, GatherReason>();
  readonly #pace = new Pace();
  readonly #counter = new PlanCounter();
  #isNarrowed = false;

  constructor(network: RestrictedNetwork, { purpose, isObstacle }: UnfoldOptions) {
    this.#network = network;
    this.#purpose = purpose;
    this.#isObstacle = isObstacle ?? (() => false);
  }

  *run(root: Node): Steps<Unfolded> {
    const states: OpenState[] = [];
    const known: Node[] = [];
    this.#intern([root]);
    // Grows while it is read: a state's hops and guards lead to further ones.
    for (const { entityType, nodes } of this.#entries) {
      const [only] = nodes;
      if (only !== undefined && nodes.length === 1 && only !== root && this.#isObstacle(only)) {
        known.push(only);
        continue;
      }
      const label = nodes.map(labelOf).join("|");
      const size = this.#counter.beginState();
      try {
        // This bound is cheap. Visiting thousands of permissions one by one would take long.
        if (this.#purpose !== "superset") {
          for (const node of nodes) this.#counter.note("names", leastNames(this.#network, node));
        }
        const branches = yield* this.#expand(nodes);
        const closed = branches.map((one) => this.#close(one));
        states.push({ entityType, nodes, label, branches: closed, size });
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
        this.#obstacle(must(nodes[0], "a state has nodes"), tooLarge);
        break;
      }
    }
    if (this.#reasons.size > 0 || known.length > 0) {
      return { kind: "obstacle", reasons: [...this.#reasons.values()], known };
    }
    const { size } = this.#counter;
    return { kind: "automaton", automaton: { states }, size, isNarrowed: this.#isNarrowed };
  }

  /** The number of the state for these nodes of one type, which is made when it is new. */
  #intern(nodes: readonly Node[]): number {
    const key = nodes
      .map(({ id }) => id)
      .toSorted((a, b) => a - b)
      .join(" ");
    let id = this.#ids.get(key);
    if (id === undefined) {
      this.#counter.addState();
      id = this.#entries.length;
      this.#ids.set(key, id);
      this.#entries.push({ entityType: must(nodes[0], "a state has nodes").entityType, nodes });
    }
    return id;
  }

  /**
   * The branches of a state. A node that was met with a subset of the guards adds nothing (least
   * fixpoint), so names that refer to each other end.
   */
  *#expand(nodes: readonly Node[]): Steps<readonly Branch[]> {
    const branches = new BranchTable((count) => this.#counter.add("branches", count));
    const met = new Map<Node, (readonly NodeGuard[])[]>();
    const stack: PendingFormula[] = nodes.map((node) => asPending(node, [])).toReversed();
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (this.#pace.step()) yield;
      const { holder, formula, guards } = next;
      this.#counter.add("leaves", 1);
      switch (formula.kind) {
        case "or":
          for (const operand of formula.operands.toReversed()) {
            stack.push({ holder, formula: operand, guards });
          }
          break;
        case "and":
        case "not":
          stack.push(...this.#split(next, formula));
          break;
        case "node": {
          const { node } = formula;
          if (!isPossible(this.#network, node) || !this.#isNew(met, node, guards)) break;
          if (isSubjectNode(this.#network, node)) branches.at(guards, 0).isSelf = true;
          stack.push({ holder: node, formula: node.formula, guards });
          break;
        }
        case "relation": {
          if (holdsDirectly(this.#network, formula))
            branches.at(guards, 0).direct.add(formula.relation);
          for (const node of formula.usersets.filter((each) => isPossible(this.#network, each))) {
            branches.addHop(guards, "usersets", String(node.id), { ...formula, node });
          }
          break;
        }
        case "walk":
          for (const node of formula.targets.filter((each) => isPossible(this.#network, each))) {
            const key = `${node.entityType} ${formula.relation}`;
            branches.addHop(guards, "walks", key, { ...formula, node });
          }
          break;
        case "attribute":
          branches.at(guards, 1).attributes.add(formula.name);
          break;
        case "rule":
          branches.at(guards, 1).rules.add(formula.rule);
          break;
      }
    }
    return branches.list();
  }

  /** False when the node was met with the same guards or fewer, which allow at least as much. */
  #isNew(
    met: Map<Node, (readonly NodeGuard[])[]>,
    node: Node,
    guards: readonly NodeGuard[],
  ): boolean {
    const before = met.get(node) ?? [];
    if (isComposite(node)) {
      this.#counter.add("visits", 1 + before.length);
      this.#counter.addComposite(node);
    } else {
      this.#counter.add("leaves", before.length);
    }
    if (before.some((fewer) => fewer.every((guard) => guards.includes(guard)))) return false;
    if (before.length === 0) met.set(node, [guards]);
    else before.push(guards);
    return true;
  }

  /** The operand that the search goes on through, behind the others; none when one is impossible. */
  #split(
    { holder, guards }: PendingFormula,
    formula: Extract<Formula, { kind: "and" | "not" }>,
  ): PendingFormula[] {
    if (formula.kind === "and") this.#counter.add("leaves", formula.operands.length);
    const required = formula.kind === "and" ? [...new Set(formula.operands)] : [formula.left];
    const inlined = must(required[0], "an operator has operands");
    if (!required.every((node) => isPossible(this.#network, node))) return [];
    if (this.#purpose === "superset") return [asPending(narrowest(required), guards)];
    const leadsBack = (node: Node): boolean =>
      holder.isRecursive && node.component === holder.component;
    if (formula.kind === "not") {
      const { right } = formula;
      if (!isPossible(this.#network, right)) return [asPending(inlined, guards)];
      if (leadsBack(right)) this.#obstacle(holder, "a negation leads back to it");
      return this.#behind(inlined, guards, [this.#guard(right, "excluded")]);
    }
    const back = required.filter(leadsBack);
    if (back.length > 1) this.#obstacle(holder, "several operands of `and` lead back to it");
    const chosen = back[0] ?? this.#chosen(required, inlined);
    const more = required.flatMap((node) =>
      node === chosen ? [] : [this.#guard(node, "required")],
    );
    return this.#behind(chosen, guards, more.toReversed());
  }

  #chosen(required: readonly Node[], first: Node): Node {
    // Judging what is local first spares the search of the rest.
    const costliest = required.find(({ isLocal }) => !isLocal) ?? first;
    const narrow = narrowest(required);
    if (this.#purpose === "check" || narrow.breadth === costliest.breadth) return costliest;
    this.#isNarrowed = true;
    return narrow;
  }

  /** Nothing behind an operand that is both required and excluded. */
  #behind(node: Node, guards: readonly NodeGuard[], more: readonly NodeGuard[]): PendingFormula[] {
    const all = [...guards];
    for (const guard of more) if (!all.includes(guard)) all.push(guard);
    this.#counter.note("guards", all.length);
    const excluded = new Set(all.flatMap((one) => (one.polarity === "excluded" ? one.node : [])));
    if (all.some((one) => one.polarity === "required" && excluded.has(one.node))) return [];
    return [asPending(node, all)];
  }

  #guard(node: Node, polarity: Polarity): NodeGuard {
    const key = `${polarity} ${node.id}`;
    let guard = this.#guards.get(key);
    if (guard === undefined) {
      guard = { node, polarity };
      this.#guards.set(key, guard);
    }
    return guard;
  }

  #obstacle({ entityType, name: permission }: Node, cause: GatherReason["cause"]): void {
    const reason = { entityType, permission, cause };
    this.#reasons.set(JSON.stringify(reason), reason);
  }

  /** The branch with the numbers of the states that it leads to. */
  #close({ guards, usersets, walks, ...tests }: Branch): OpenBranch {
    const numbered = guards.map(({ node, polarity }) => ({
      state: this.#intern([node]),
      polarity,
    }));
    const hop = ({ relations, nodes }: BranchHop): OpenHop => ({
      relations: [...relations],
      target: this.#intern([...nodes]),
      node: must([...nodes][0], "a hop leads to a node"),
    });
    const perTarget = Map.groupBy([...walks.values()].map(hop), ({ target }) => target);
    return {
      guards: numbered.toSorted((a, b) => a.state - b.state),
      isSelf: tests.isSelf,
      direct: [...tests.direct],
      attributes: [...tests.attributes],
      rules: [...tests.rules],
      usersets: [...usersets.values()].map(hop),
      walks: [...perTarget.values()].flatMap(([first, ...others]) => {
        if (first === undefined) return [];
        const relations = [first, ...others].flatMap((each) => each.relations);
        return [{ ...first, relations: [...new Set(relations)] }];
      }),
    };
  }
}

/** A formula to expand, the node that it is part of, and the guards before it. */
interface PendingFormula {
  readonly holder: Node;
  readonly formula: Formula;
  readonly guards: readonly NodeGuard[];
}

function asPending(node: Node, guards: readonly NodeGuard[]): PendingFormula {
  return { holder: node, formula: { kind: "node", node }, guards };
}

/** The operand that is likely to have the fewest candidates. */
function narrowest(operands: readonly Node[]): Node {
  const least = Math.min(...operands.map(({ breadth }) => breadth));
  return must(
    operands.find(({ breadth }) => breadth === least),
    "one of the operands has the least",
  );
}
