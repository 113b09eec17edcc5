import { must, unreachable } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Entity } from "../base/tuple.ts";
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
import { Circuit, type Gate, type GroundNode, type HopGate, type ValueGate } from "./circuit.ts";
import { type EvaluationInput, judgeTest } from "./judge.ts";

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

/** A subject of tuples: by its id alone, or with its relation. */
type SubjectEnd = string | { readonly id: string; readonly relation: string };

const none: readonly number[] = [];
const openGate: Gate = { kind: "open", inputs: none };
const deniedGate: Gate = { kind: "or", inputs: none };

/** Grounds a network: reads nodes that are open, and so finds further ones. */
export class Grounding {
  readonly circuit = new Circuit();
  readonly #network: RestrictedNetwork;
  readonly #asked: EvaluationInput;
  readonly #endsAtDirect: boolean;
  /** By node of the network and by entity id. */
  readonly #gates = new Map<Node, Map<string, number>>();
  /** Ids by type. */
  readonly #entities = new Map<string, Set<string>>();
  #entityCount = 0;
  readonly #pace = new Pace();
  /** Nodes to read: those of the current level and those one hop further. */
  #near: number[] = [];
  #far: number[] = [];
  #size = 0;
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
    for (const root of roots) this.#gateOf(root, asked.entityId, 0, this.#near);
  }

  /** Whether it is more than is looked at for one answer. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
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
        if (this.#pace.step()) yield;
        yield* this.#close(id);
        if (this.#isTooLarge) return none;
      }
      this.#near = this.#far;
      this.#far = [];
      if (this.#size >= size) break;
    }
    return this.#near;
  }

  *#close(id: number): Steps<void> {
    if (this.circuit.gates[id]?.kind !== "open") return;
    const at = must(this.circuit.nodes[id], "an open gate is a node");
    const { formula } = at.node;
    if (isSubjectNode(this.#network, at.node) && at.entityId === this.#asked.subject.id) {
      this.circuit.close(id, valueOf(at, { kind: "self" }, ALLOWED));
      return;
    }
    this.#count();
    this.circuit.close(id, this.#localGate(at, formula) ?? (yield* this.#gate(at, formula)));
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
      case "rule":
        return this.#value(at, formula);
      case "relation":
        return formula.usersets.length === 0 ? this.#either(this.#direct(at, formula)) : undefined;
      case "or":
      case "walk":
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
        return this.#either(yield* this.#relation(at, formula));
      case "walk":
        return this.#either(yield* this.#walk(at, formula));
      default:
        return must(this.#localGate(at, formula), "other formulas read little");
    }
  }

  /** The gate of a tuple to the subject itself, if there may be one. */
  #direct(at: GroundNode, formula: Extract<Formula, { kind: "relation" }>): ValueGate[] {
    if (!holdsDirectly(this.#network, formula)) return [];
    const direct = this.#value(at, { kind: "direct", relations: [formula.relation] });
    return direct.verdict === DENIED ? [] : [direct];
  }

  *#relation(
    at: GroundNode,
    formula: Extract<Formula, { kind: "relation" }>,
  ): Steps<readonly Gate[]> {
    const { relation } = formula;
    const gates: Gate[] = this.#direct(at, formula);
    if (gates.length > 0 && this.#endsAtDirect) return gates;
    const { facts } = this.#asked;
    for (const node of formula.usersets) {
      if (!isPossible(this.#network, node)) continue;
      const ids = facts.subjectIds(entityOf(at), [relation], node.entityType, node.name);
      const hop = yield* this.#hop(at, { relation, isWalk: false }, node, ids);
      if (hop !== undefined) gates.push(hop);
    }
    return gates;
  }

  *#walk(at: GroundNode, formula: Extract<Formula, { kind: "walk" }>): Steps<readonly Gate[]> {
    const { relation } = formula;
    const gates: Gate[] = [];
    const { facts } = this.#asked;
    for (const node of formula.targets) {
      if (!isPossible(this.#network, node)) continue;
      const subjects = facts.subjects(entityOf(at), relation, node.entityType);
      const hop = yield* this.#hop(at, { relation, isWalk: true }, node, subjects);
      if (hop !== undefined) gates.push(hop);
    }
    return gates;
  }

  /** The gate of a node at all entities that are subjects; undefined if there are none. */
  *#hop(
    at: GroundNode,
    { relation: via, isWalk }: { readonly relation: string; readonly isWalk: boolean },
    node: Node,
    subjects: Iterable<SubjectEnd>,
  ): Steps<HopGate | undefined> {
    const inputs = new Set<number>();
    const subjectRelations = new Map<number, string>();
    for (const subject of subjects) {
      if (this.#pace.step()) yield;
      const { id, relation } =
        typeof subject === "string" ? { id: subject, relation: "" } : subject;
      const input = this.#gateOf(node, id, at.level + 1, this.#far);
      const isKnown = inputs.has(input);
      const isLeast = isKnown ? relation < (subjectRelations.get(input) ?? "") : relation !== "";
      if (isLeast) subjectRelations.set(input, relation);
      if (isKnown) continue;
      inputs.add(input);
      this.#count();
      if (this.#isTooLarge) break;
    }
    if (inputs.size === 0) return undefined;
    return {
      kind: "hop",
      inputs: [...inputs],
      relation: via,
      subjectRelations: isWalk ? subjectRelations : undefined,
    };
  }

  /** One gate that holds if one of the gates does. */
  #either(gates: readonly Gate[]): Gate {
    const [first] = gates;
    if (first !== undefined && gates.length === 1) return first;
    return { kind: "or", inputs: gates.map((gate) => this.circuit.add(gate)) };
  }

  #value(at: GroundNode, test: Test): ValueGate {
    return valueOf(at, test, judgeTest(test, entityOf(at), this.#asked));
  }

  /** The gate of another node at the entity. */
  #here(at: GroundNode, node: Node): number {
    return isPossible(this.#network, node)
      ? this.#gateOf(node, at.entityId, at.level, this.#near)
      : this.circuit.add(deniedGate);
  }

  /** The gate of the node at the entity, which is queued when it is new or nearer than known. */
  #gateOf(node: Node, entityId: string, level: number, queue: number[]): number {
    let gates = this.#gates.get(node);
    if (gates === undefined) this.#gates.set(node, (gates = new Map()));
    const known = gates.get(entityId);
    if (known !== undefined) {
      this.#comeNearer(known, level, queue);
      return known;
    }
    const id = this.circuit.add(openGate, { node, entityId, level });
    gates.set(entityId, id);
    this.#countEntity(node.entityType, entityId);
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

  #countEntity(type: string, id: string): void {
    let ids = this.#entities.get(type);
    if (ids === undefined) this.#entities.set(type, (ids = new Set()));
    if (ids.has(id)) return;
    ids.add(id);
    this.#entityCount += 1;
    if (this.#entityCount > gatheredEntitiesMax) this.#isTooLarge = true;
  }

  #count(): void {
    this.#size += 1;
    if (this.#size > groundMax.answer || !this.#asked.budget.spend()) this.#isTooLarge = true;
  }
}

function entityOf({ node, entityId }: GroundNode): Entity {
  return { type: node.entityType, id: entityId };
}

function valueOf({ level }: GroundNode, test: Test, verdict: Verdict): ValueGate {
  return { kind: "value", inputs: none, verdict, level, test };
}
