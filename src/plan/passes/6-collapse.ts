import { Pace, type Steps } from "../../base/steps.ts";
import { type Formula, mentionedNodes, type Node } from "../network.ts";
import type { Test } from "../plan.ts";
import type { SubjectKind } from "../question.ts";
import { holdsDirectly, isPossible, isSubjectNode, type RestrictedNetwork } from "./2-restrict.ts";
import type { CandidateHop, CandidateState } from "./5-drop-guards.ts";

/** All that roots of one entity type lead to. Its first state is that of the roots' type. */
export interface Collapsed {
  readonly kind: SubjectKind;
  /** One for each entity type, under the number that is its place. */
  readonly states: readonly CandidateState[];
  /** By entity type, the relations whose nodes were met. */
  readonly relations: ReadonlyMap<string, readonly string[]>;
  /** A `not` was met. */
  readonly hasNegation: boolean;
  /** An `and` was met. */
  readonly hasIntersection: boolean;
}

/**
 * Collapses a network to one state for each entity type: what can be read of an entity, by any name
 * that the roots lead to. A gather reads it. If the network unfolds to too much, it also gives the
 * candidates of a lookup.
 *
 * Needs: a network restricted to the kind of subjects of the question; roots of one entity type.
 * Guarantees: each fact that the answer of a root can depend on is read by a test or a hop, as long
 * as hops are followed from where the question begins; its size is that of the schema at most.
 */
export function* collapse(
  network: RestrictedNetwork,
  roots: readonly [Node, ...Node[]],
): Steps<Collapsed> {
  const types = new Map<string, OpenType>();
  const typeOf = (entityType: string): OpenType => {
    const known = types.get(entityType);
    if (known !== undefined) return known;
    const type = new OpenType(types.size, entityType);
    types.set(entityType, type);
    return type;
  };
  const pace = new Pace();
  const seen = new Set<Node>(roots);
  let hasNegation = false;
  let hasIntersection = false;
  // Grows while it is read.
  for (const node of seen) {
    if (pace.step()) yield;
    if (isOperation(node.formula, "not")) hasNegation = true;
    if (isOperation(node.formula, "and")) hasIntersection = true;
    const type = typeOf(node.entityType);
    if (!isPossible(network, node)) continue;
    if (isSubjectNode(network, node)) type.isSelf = true;
    collect(network, node.formula, type, (entityType) => typeOf(entityType).id);
    for (const next of mentionedNodes(node.formula)) seen.add(next);
  }
  return {
    kind: network.kind,
    states: [...types.values()].map((type) => type.state()),
    relations: new Map([...types].map(([name, { relations }]) => [name, [...relations]])),
    hasNegation,
    hasIntersection,
  };
}

/** Whether the formula, or an operand of its `or`, is such an operation. */
function isOperation(formula: Formula, kind: "and" | "not"): boolean {
  return formula.kind === "or"
    ? formula.operands.some((operand) => isOperation(operand, kind))
    : formula.kind === kind;
}

class OpenType {
  readonly id: number;
  readonly relations = new Set<string>();
  readonly direct = new Set<string>();
  readonly tests = new Map<string, Test>();
  readonly hops = new Map<string, CandidateHop & { readonly relations: string[] }>();
  isSelf = false;
  readonly #entityType: string;

  constructor(id: number, entityType: string) {
    this.id = id;
    this.#entityType = entityType;
  }

  addHop(relation: string, node: Node, subjectRelation: string | undefined, target: number): void {
    const subjectType = node.entityType;
    const key = `${subjectType} ${subjectRelation ?? ""}`;
    const hop = this.hops.get(key);
    if (hop === undefined) {
      const relations = [relation];
      const ends = { subjectType, subjectRelation, target };
      this.hops.set(key, { relations, ...ends, isOpen: false, isDefinite: false });
    } else if (!hop.relations.includes(relation)) {
      hop.relations.push(relation);
    }
  }

  state(): CandidateState {
    const tests: Test[] = [
      ...(this.isSelf ? [{ kind: "self" } as const] : []),
      ...(this.direct.size > 0 ? [{ kind: "direct", relations: [...this.direct] } as const] : []),
      ...this.tests.values(),
    ];
    return {
      id: this.id,
      entityType: this.#entityType,
      tests: tests.map((test) => ({ test, isDefinite: false })),
      hops: [...this.hops.values()],
    };
  }
}

function collect(
  network: RestrictedNetwork,
  formula: Formula,
  type: OpenType,
  idOf: (entityType: string) => number,
): void {
  switch (formula.kind) {
    case "or":
      for (const operand of formula.operands) collect(network, operand, type, idOf);
      return;
    case "relation":
      type.relations.add(formula.relation);
      if (holdsDirectly(network, formula)) type.direct.add(formula.relation);
      for (const node of formula.usersets) {
        if (isPossible(network, node)) {
          type.addHop(formula.relation, node, node.name, idOf(node.entityType));
        }
      }
      return;
    case "walk":
      for (const node of formula.targets) {
        if (isPossible(network, node)) {
          type.addHop(formula.relation, node, undefined, idOf(node.entityType));
        }
      }
      return;
    case "attribute":
      type.tests.set(`attribute ${formula.name}`, formula);
      return;
    case "rule":
      type.tests.set(`rule ${formula.rule.name}`, formula);
      return;
    case "and":
    case "not":
    case "node":
      return;
  }
}
