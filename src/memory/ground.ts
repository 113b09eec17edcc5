import { must, unreachable } from "../base/assert.ts";
import type { Verdict } from "../base/verdict.ts";
import { gatheredEntitiesMax } from "../plan/limit.ts";
import type { Formula, NetworkNode, NetworkPlan } from "../plan/plan.ts";
import { judgeTest, type Asked } from "./judge.ts";
import { Pace, type Steps } from "./pace.ts";

/** A node of a network plan at one entity. */
export interface GroundNode {
  readonly id: number;
  /** As `type:id#name`, for messages. */
  readonly label: string;
  /** Hops of the shortest way to it from the question. */
  readonly level: number;
  readonly formula: GroundFormula;
}

/** A formula with its tests judged and its hops followed. */
export type GroundFormula =
  | { readonly kind: "or"; readonly operands: readonly GroundFormula[] }
  | { readonly kind: "and"; readonly operands: readonly GroundFormula[] }
  | { readonly kind: "not"; readonly left: GroundFormula; readonly right: GroundFormula }
  | { readonly kind: "value"; readonly verdict: Verdict }
  /** Another ground node, `hops` away. */
  | { readonly kind: "node"; readonly node: number; readonly hops: 0 | 1 };

/**
 * The part of the graph that the question reaches; node 0 is the question. Undefined when that is
 * more than is looked at for one answer.
 */
export function groundNetwork(
  plan: NetworkPlan,
  asked: Asked,
): Steps<readonly GroundNode[] | undefined> {
  return new Grounding(plan, asked).run();
}

interface Open {
  readonly node: NetworkNode;
  readonly entityId: string;
  level: number;
  formula: GroundFormula | undefined;
}

class Grounding {
  readonly #plan: NetworkPlan;
  readonly #asked: Asked;
  readonly #ids = new Map<string, number>();
  readonly #nodes: Open[] = [];
  readonly #entities = new Set<string>();
  readonly #pace = new Pace();
  /** Nodes to ground, those of the current level and those one hop further. */
  #near: number[] = [];
  #far: number[] = [];

  constructor(plan: NetworkPlan, asked: Asked) {
    this.#plan = plan;
    this.#asked = asked;
  }

  *run(): Steps<GroundNode[] | undefined> {
    this.#mention(0, this.#asked.entityId, 0, this.#near);
    for (let level = 0; this.#near.length > 0; level += 1) {
      // Grows while it is read: names of the same entity are of the same level.
      for (const id of this.#near) {
        if (this.#pace.step()) yield;
        this.#ground(id, level);
        if (this.#entities.size > gatheredEntitiesMax) return undefined;
      }
      this.#near = this.#far;
      this.#far = [];
    }
    return this.#nodes.map((open, id) => ({
      id,
      label: `${open.node.entityType}:${open.entityId}#${open.node.name}`,
      level: open.level,
      formula: must(open.formula, "every mentioned node is grounded"),
    }));
  }

  #ground(id: number, level: number): void {
    const open = must(this.#nodes[id], "a queued node exists");
    if (open.formula !== undefined) return;
    open.level = level;
    open.formula = this.#formula(open, open.node.formula);
  }

  #formula(open: Open, formula: Formula): GroundFormula {
    switch (formula.kind) {
      case "or":
      case "and":
        return {
          kind: formula.kind,
          operands: formula.operands.map((operand) => this.#formula(open, operand)),
        };
      case "not":
        return {
          kind: "not",
          left: this.#formula(open, formula.left),
          right: this.#formula(open, formula.right),
        };
      case "test": {
        const entity = { type: open.node.entityType, id: open.entityId };
        return { kind: "value", verdict: judgeTest(formula.test, entity, this.#asked) };
      }
      case "node": {
        const node = this.#mention(formula.node, open.entityId, open.level, this.#near);
        return { kind: "node", node, hops: 0 };
      }
      case "hop":
        return this.#hop(open, formula);
      default:
        return unreachable(formula);
    }
  }

  #hop(open: Open, { hop, node }: Extract<Formula, { kind: "hop" }>): GroundFormula {
    const ids = this.#asked.facts.subjectIds(
      { type: open.node.entityType, id: open.entityId },
      [hop.relation],
      hop.subjectType,
      hop.subjectRelation,
    );
    const operands = [...new Set(ids)].map((id): GroundFormula => {
      return { kind: "node", node: this.#mention(node, id, open.level + 1, this.#far), hops: 1 };
    });
    return { kind: "or", operands };
  }

  /** The number of the node at the entity, which is queued when it is new or nearer than known. */
  #mention(node: number, entityId: string, level: number, queue: number[]): number {
    const key = `${node}\0${entityId}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#nodes.length;
      this.#ids.set(key, id);
      const planNode = must(this.#plan.network.nodes[node], "a plan's nodes refer to each other");
      this.#nodes.push({ node: planNode, entityId, level, formula: undefined });
      this.#entities.add(`${planNode.entityType}\0${entityId}`);
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
}
