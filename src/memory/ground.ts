import { must, unreachable } from "../base/assert.ts";
import type { Pace, Steps } from "../base/steps.ts";
import type { Entity } from "../base/tuple.ts";
import { ALLOWED, DENIED, type Verdict } from "../base/verdict.ts";
import { groundMax } from "../plan/limit.ts";
import type { Formula, Node } from "../plan/network.ts";
import {
  holdsDirectly,
  isPossible,
  isSubjectNode,
  type RestrictedNetwork,
} from "../plan/passes/2-restrict.ts";
import type { Test } from "../plan/plan.ts";
import { Circuit, type Gate, type GroundNode, type ValueGate } from "./circuit.ts";
import { EntityLimit } from "./entity-limit.ts";
import { areFew, HopInputs, type Lead, type Leads, leadsOf } from "./hop-inputs.ts";
import { type EvaluationInput, judgeQuickTest, judgeTest, type QuickTest } from "./judge.ts";
import { NodeGates } from "./node-gates.ts";

/**
 * The part of the graph that the roots reach from the asked entity; gate i is the i-th root. Undefined
 * when that is more than is looked at for one answer.
 */
export function* groundNetwork(
  network: RestrictedNetwork,
  roots: readonly Node[],
  asked: EvaluationInput,
): Steps<Circuit | undefined> {
  const grounding = new Grounding(network, roots, asked, { endsAtDirect: false });
  yield* grounding.read([...roots.keys()], Number.POSITIVE_INFINITY);
  return grounding.isTooLarge ? undefined : grounding.circuit;
}

const none: readonly number[] = [];
/** What the tuples at a node lead to, with the gates of those that are read. */
interface GroundLeads extends Leads {
  readonly gates: Gate[];
}

const openGate: Gate = { kind: "open", inputs: none };
const deniedGate: Gate = { kind: "or", inputs: none };

/** Grounds a network: reads nodes that are open, and so finds further ones. */
export class Grounding {
  readonly circuit = new Circuit();
  readonly #network: RestrictedNetwork;
  readonly #asked: EvaluationInput;
  readonly #endsAtDirect: boolean;
  readonly #gates = new NodeGates();
  /** By relation. */
  readonly #directTests = new Map<string, QuickTest>();
  readonly #entities = new EntityLimit(this.circuit);
  readonly #pace: Pace;
  /** Its pace said so where it could not pause. */
  #isPauseDue = false;
  /** Nodes to read: those of the current level and those one hop further. */
  #near: number[] = [];
  #far: number[] = [];
  #size = 0;
  #isTooLarge = false;
  #hasAllowedTest = false;
  #mayHold = false;

  /** With `endsAtDirect` no usersets are read of a relation that the subject itself stands in. */
  constructor(
    network: RestrictedNetwork,
    roots: readonly Node[],
    asked: EvaluationInput,
    { endsAtDirect }: { readonly endsAtDirect: boolean },
  ) {
    this.#network = network;
    this.#asked = asked;
    this.#pace = asked.pace;
    this.#endsAtDirect = endsAtDirect;
    for (const root of roots) this.#gateOf(root, asked.entityId, 0, this.#near);
  }

  /** Whether it is more than is looked at for one answer. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** Whether a test that was read holds. */
  get hasAllowedTest(): boolean {
    return this.#hasAllowedTest;
  }

  /** Whether a test that was read holds, or may hold. */
  get mayHold(): boolean {
    return this.#mayHold;
  }

  /** Nodes, operands and hops so far. */
  get size(): number {
    return this.#size;
  }

  /**
   * Reads open nodes and what they lead to, level by level, until so much is read. Returns the nodes of
   * the next level, which are open.
   */
  *read(nodes: readonly number[], size: number): Steps<readonly number[]> {
    this.#near = [...nodes];
    while (this.#near.length > 0) {
      // Grows while it is read: names of the same entity are of the same level.
      for (const id of this.#near) {
        if (this.#pace.step() || this.#isPauseDue) {
          this.#isPauseDue = false;
          yield;
        }
        const at = this.#openNode(id);
        if (at === undefined) continue;
        const { formula } = at.node;
        this.circuit.close(id, this.#localGate(at, formula) ?? (yield* this.#gate(at, formula)));
        if (this.#isTooLarge) return none;
      }
      this.#near = this.#far;
      this.#far = [];
      if (this.#size >= size) break;
    }
    return this.#near;
  }

  /** The node of an open gate, whose formula is to be read; undefined if there is none. */
  #openNode(id: number): GroundNode | undefined {
    if (this.circuit.gates[id]?.kind !== "open") return undefined;
    const at = must(this.circuit.nodes[id], "an open gate is a node");
    if (isSubjectNode(this.#network, at.node) && at.entity.id === this.#asked.subject.id) {
      this.circuit.close(id, this.#valueOf(at, { kind: "self" }, ALLOWED));
      return undefined;
    }
    this.#count();
    return at;
  }

  /** The gate of a formula that reads little; undefined for any other one. */
  #localGate(at: GroundNode, formula: Formula): Gate | undefined {
    switch (formula.kind) {
      case "and":
        return { kind: "and", inputs: formula.operands.map((node) => this.#here(at, node)) };
      case "not": {
        const { left, right } = formula;
        return { kind: "not", inputs: [this.#here(at, left), this.#here(at, right)] };
      }
      case "node":
        return { kind: "or", inputs: [this.#here(at, formula.node)] };
      case "attribute":
        return this.#valueOf(at, formula, judgeQuickTest(formula, at.entity, this.#asked));
      case "relation":
      case "walk":
        return this.#fewHops(at, this.#leads(at, formula));
      case "or":
      case "rule":
        return undefined;
      default:
        return unreachable(formula);
    }
  }

  *#gate(at: GroundNode, formula: Formula): Steps<Gate> {
    switch (formula.kind) {
      case "or": {
        const inputs: number[] = [];
        for (const operand of formula.operands) {
          if (this.#pace.step()) yield;
          // An operand is kept for each entity, also without any tuple behind it.
          this.#count();
          if (this.#isTooLarge) return deniedGate;
          inputs.push(
            operand.kind === "node"
              ? this.#here(at, operand.node)
              : this.circuit.add(this.#localGate(at, operand) ?? (yield* this.#gate(at, operand))),
          );
        }
        return { kind: "or", inputs };
      }
      case "relation":
      case "walk": {
        const leads = this.#leads(at, formula);
        yield* this.#hops(at, leads);
        return this.#either(leads.gates);
      }
      case "rule":
        return this.#valueOf(at, formula, yield* judgeTest(formula, at.entity, this.#asked));
      default:
        return must(this.#localGate(at, formula), "other formulas read little");
    }
  }

  /** The gate of a tuple to the subject itself, if there may be one. */
  #direct(at: GroundNode, formula: Extract<Formula, { kind: "relation" }>): ValueGate | undefined {
    if (!holdsDirectly(this.#network, formula)) return undefined;
    const { relation } = formula;
    let test = this.#directTests.get(relation);
    if (test === undefined) {
      test = { kind: "direct", relations: [relation] };
      this.#directTests.set(relation, test);
    }
    const verdict = judgeQuickTest(test, at.entity, this.#asked);
    return verdict === DENIED ? undefined : this.#valueOf(at, test, verdict);
  }

  /** The gate of a tuple to the subject itself, and what the other tuples lead to. */
  #leads(at: GroundNode, formula: Extract<Formula, { kind: "relation" | "walk" }>): GroundLeads {
    const isWalk = formula.kind === "walk";
    const direct = isWalk ? undefined : this.#direct(at, formula);
    const isEnd = direct !== undefined && this.#endsAtDirect;
    const nodes = isWalk ? formula.targets : isEnd ? [] : formula.usersets;
    const possible = nodes.filter((node) => isPossible(this.#network, node));
    const via = { relation: formula.relation, isWalk };
    const leads = leadsOf(this.#asked.facts, at.entity, via, possible);
    return { ...leads, gates: direct === undefined ? [] : [direct] };
  }

  /** Undefined if more tuples lead on than are read without a pause. */
  #fewHops(at: GroundNode, leads: GroundLeads): Gate | undefined {
    if (!areFew(leads)) return undefined;
    if (leads.ends.length > 0) {
      const steps = this.#hops(at, leads);
      while (steps.next().done !== true) this.#isPauseDue = true;
    }
    return this.#either(leads.gates);
  }

  /** Adds the gates of nodes at all entities that are subjects, of each node that has some. */
  *#hops(at: GroundNode, leads: GroundLeads): Steps<void> {
    for (const { node, subjects } of leads.ends) {
      const inputs = new HopInputs(leads);
      let isEmpty = true;
      for (const subject of subjects) {
        if (this.#pace.step()) yield;
        this.#enter(at, node, subject, inputs);
        isEmpty = false;
        if (this.#isTooLarge) break;
      }
      if (!isEmpty) leads.gates.push(inputs.gate());
    }
  }

  #enter(at: GroundNode, node: Node, subject: Lead, inputs: HopInputs): void {
    const isId = typeof subject === "string";
    const input = this.#gateOf(node, isId ? subject : subject.id, at.level + 1, this.#far);
    if (inputs.take(input, isId ? "" : subject.relation)) this.#count();
  }

  /** One gate that holds if one of the gates does. */
  #either(gates: readonly Gate[]): Gate {
    const [first] = gates;
    if (first === undefined) return deniedGate;
    if (gates.length === 1) return first;
    return { kind: "or", inputs: gates.map((gate) => this.circuit.add(gate)) };
  }

  #valueOf({ level }: GroundNode, test: Test, verdict: Verdict): ValueGate {
    if (verdict === ALLOWED) this.#hasAllowedTest = true;
    if (verdict !== DENIED) this.#mayHold = true;
    return { kind: "value", inputs: none, verdict, level, test };
  }

  /** The gate of another node at the entity. */
  #here(at: GroundNode, node: Node): number {
    return isPossible(this.#network, node)
      ? this.#gateOf(node, at.entity, at.level, this.#near)
      : this.circuit.add(deniedGate);
  }

  /** The gate of the node at the entity or its id, which is queued when it is new or nearer than known. */
  #gateOf(node: Node, at: string | Entity, level: number, queue: number[]): number {
    const entityId = typeof at === "string" ? at : at.id;
    const known = this.#gates.find(node, entityId);
    if (known !== undefined) {
      this.#comeNearer(known, level, queue);
      return known;
    }
    const entity = typeof at === "string" ? { type: node.entityType, id: at } : at;
    const ground = { node, entity, level };
    const id = this.circuit.add(openGate, ground);
    this.#gates.set(node, entityId, id);
    if (this.#entities.exceededBy(ground)) this.#isTooLarge = true;
    this.#count();
    queue.push(id);
    return id;
  }

  #comeNearer(id: number, level: number, queue: number[]): void {
    if (this.circuit.gates[id]?.kind !== "open") return;
    const at = must(this.circuit.nodes[id], "an open gate is a node");
    if (level >= at.level) return;
    at.level = level;
    queue.push(id);
  }

  #count(): void {
    this.#size += 1;
    if (this.#size > groundMax.answer || !this.#asked.budget.spend()) this.#isTooLarge = true;
  }
}
