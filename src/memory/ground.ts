import { must, unreachable } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { ALLOWED, DENIED, type Verdict } from "../base/verdict.ts";
import { gatheredEntitiesMax, groundMax } from "../plan/limit.ts";
import type { Formula, Node } from "../plan/network.ts";
import {
  holdsDirectly,
  isPossible,
  isSubjectNode,
  type RestrictedNetwork,
} from "../plan/passes/2-restrict.ts";
import type { Test } from "../plan/plan.ts";
import { type EvaluationInput, judgeTest } from "./judge.ts";

/** A node of a network at one entity. */
export interface GroundNode {
  readonly node: Node;
  readonly entityId: string;
  /** Hops of the shortest path to it from the question. */
  readonly level: number;
  readonly formula: GroundFormula;
}

/** A formula with its tests judged and its hops followed. */
export type GroundFormula =
  | { readonly kind: "or"; readonly operands: readonly GroundFormula[] }
  | { readonly kind: "and"; readonly operands: readonly GroundFormula[] }
  | { readonly kind: "not"; readonly left: GroundFormula; readonly right: GroundFormula }
  /** Without a test it is denied for every subject of the kind. */
  | { readonly kind: "value"; readonly verdict: Verdict; readonly test?: Test | undefined }
  /** Another ground node, `hops` away: one, over a tuple of the relation `via`, or none. */
  | {
      readonly kind: "node";
      readonly node: number;
      readonly hops: 0 | 1;
      readonly via?: string | undefined;
    };

/**
 * The part of the graph that the roots reach from the asked entity; node i is the i-th root. Undefined
 * when that is more than is looked at for one answer.
 */
export function* groundNetwork(
  network: RestrictedNetwork,
  roots: readonly Node[],
  asked: EvaluationInput,
): Steps<readonly GroundNode[] | undefined> {
  const grounding = new Grounding(network, roots, asked, { endsAtDirect: false });
  while (grounding.isOpen) yield* grounding.deepen();
  return grounding.isTooLarge ? undefined : yield* grounding.nodes();
}

interface Open {
  readonly node: Node;
  readonly entityId: string;
  level: number;
  formula: GroundFormula | undefined;
}

const denied: GroundFormula = { kind: "value", verdict: DENIED };

function isAllowed(formula: GroundFormula): boolean {
  return formula.kind === "value" && formula.verdict === ALLOWED;
}

/** Grounds a network level by level: the names of entities that are one hop further each time. */
export class Grounding {
  readonly #network: RestrictedNetwork;
  readonly #asked: EvaluationInput;
  readonly #ids = new Map<string, number>();
  readonly #nodes: Open[] = [];
  readonly #entities = new Set<string>();
  readonly #pace = new Pace();
  readonly #endsAtDirect: boolean;
  /** Nodes to ground, those of the current level and those one hop further. */
  #near: number[] = [];
  #far: number[] = [];
  #size = 0;
  #levels = 0;
  #isTooLarge = false;

  /** With `endsAtDirect` no usersets are read of a relation that the subject itself stands in. */
  constructor(
    network: RestrictedNetwork,
    roots: readonly Node[],
    asked: EvaluationInput,
    { endsAtDirect }: { readonly endsAtDirect: boolean },
  ) {
    this.#network = network;
    this.#asked = asked;
    this.#endsAtDirect = endsAtDirect;
    for (const root of roots) this.#add(root, asked.entityId, 0, this.#near);
  }

  /** Whether there is another level. */
  get isOpen(): boolean {
    return this.#near.length > 0 && !this.isTooLarge;
  }

  /** Whether it is more than is looked at for one answer. */
  get isTooLarge(): boolean {
    return this.#isTooLarge || this.#entities.size > gatheredEntitiesMax;
  }

  /** The levels that are grounded. */
  get levels(): number {
    return this.#levels;
  }

  /** Nodes, operands and hops of these levels. */
  get size(): number {
    return this.#size;
  }

  /** Grounds the next level. */
  *deepen(): Steps<void> {
    // Grows while it is read: names of the same entity are of the same level.
    for (const id of this.#near) {
      yield* this.#ground(id);
      if (this.isTooLarge) return;
    }
    this.#near = this.#far;
    this.#far = [];
    this.#levels += 1;
  }

  /** What is grounded; nodes of the next level are denied in it. */
  *nodes(): Steps<readonly GroundNode[]> {
    const nodes: GroundNode[] = [];
    for (const { node, entityId, level, formula } of this.#nodes) {
      if (this.#pace.step()) yield;
      nodes.push({ node, entityId, level, formula: formula ?? denied });
    }
    return nodes;
  }

  *#ground(id: number): Steps<void> {
    const open = must(this.#nodes[id], "a queued node exists");
    if (open.formula !== undefined) return;
    const isSubject =
      isSubjectNode(this.#network, open.node) && open.entityId === this.#asked.subject.id;
    open.formula = isSubject
      ? { kind: "value", verdict: ALLOWED, test: { kind: "self" } }
      : yield* this.#formula(open, open.node.formula);
  }

  *#formula(open: Open, formula: Formula): Steps<GroundFormula> {
    if (this.#pace.step()) yield;
    // An operand is kept for each entity, also without any tuple behind it.
    this.#count();
    if (this.#isTooLarge) return denied;
    const here = (node: Node): GroundFormula =>
      this.#mention(node, open.entityId, { level: open.level });
    switch (formula.kind) {
      case "or": {
        const operands: GroundFormula[] = [];
        for (const operand of formula.operands) operands.push(yield* this.#formula(open, operand));
        return { kind: "or", operands };
      }
      case "and":
        return { kind: "and", operands: formula.operands.map(here) };
      case "not":
        return { kind: "not", left: here(formula.left), right: here(formula.right) };
      case "node":
        return here(formula.node);
      case "relation": {
        const operands: GroundFormula[] = holdsDirectly(this.#network, formula)
          ? [this.#value(open, { kind: "direct", relations: [formula.relation] })]
          : [];
        if (this.#endsAtDirect && operands.some(isAllowed)) return { kind: "or", operands };
        for (const node of formula.usersets) {
          operands.push(...(yield* this.#hops(open, formula.relation, node, node.name)));
        }
        return { kind: "or", operands };
      }
      case "walk": {
        const operands: GroundFormula[] = [];
        for (const node of formula.targets) {
          operands.push(...(yield* this.#hops(open, formula.relation, node, undefined)));
        }
        return { kind: "or", operands };
      }
      case "attribute":
      case "rule":
        return this.#value(open, formula);
      default:
        return unreachable(formula);
    }
  }

  #value(open: Open, test: Test): GroundFormula {
    const entity = { type: open.node.entityType, id: open.entityId };
    return { kind: "value", verdict: judgeTest(test, entity, this.#asked), test };
  }

  /** One operand for all entities behind a hop. `subjectRelation` undefined: any. */
  *#hops(
    open: Open,
    relation: string,
    node: Node,
    subjectRelation: string | undefined,
  ): Steps<readonly GroundFormula[]> {
    if (!isPossible(this.#network, node)) return [];
    const entity = { type: open.node.entityType, id: open.entityId };
    const found = new Set<string>();
    const { facts } = this.#asked;
    for (const id of facts.subjectIds(entity, [relation], node.entityType, subjectRelation)) {
      if (this.#pace.step()) yield;
      if (found.has(id)) continue;
      found.add(id);
      this.#count();
      if (this.#isTooLarge) return [];
    }
    const operands: GroundFormula[] = [];
    for (const id of found) {
      if (this.#pace.step()) yield;
      operands.push(this.#mention(node, id, { level: open.level + 1, via: relation }));
    }
    return [{ kind: "or", operands }];
  }

  #mention(
    node: Node,
    entityId: string,
    { level, via }: { readonly level: number; readonly via?: string },
  ): GroundFormula {
    if (!isPossible(this.#network, node)) return denied;
    const isHere = via === undefined;
    const id = this.#add(node, entityId, level, isHere ? this.#near : this.#far);
    return { kind: "node", node: id, hops: isHere ? 0 : 1, via };
  }

  /** The number of the node at the entity, which is queued when it is new or nearer than known. */
  #add(node: Node, entityId: string, level: number, queue: number[]): number {
    const key = `${node.id}\0${entityId}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#nodes.length;
      this.#ids.set(key, id);
      this.#nodes.push({ node, entityId, level, formula: undefined });
      this.#entities.add(`${node.entityType}\0${entityId}`);
      this.#count();
      queue.push(id);
      return id;
    }
    const open = must(this.#nodes[id], "a mentioned node exists");
    if (open.formula === undefined && level < open.level) {
      open.level = level;
      queue.push(id);
    }
    return id;
  }

  #count(): void {
    this.#size += 1;
    if (this.#size > groundMax.answer || !this.#asked.budget.spend()) this.#isTooLarge = true;
  }
}
