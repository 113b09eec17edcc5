import type { Entity } from "../base/tuple.ts";
import type { Verdict } from "../base/verdict.ts";
import type { Node } from "../plan/network.ts";
import type { Test } from "../plan/plan.ts";

/** One operator of a ground formula. Its inputs are the numbers of the gates that it reads. */
export type Gate =
  /** A ground node that is not read. */
  | { readonly kind: "open"; readonly inputs: readonly number[] }
  | { readonly kind: "or" | "and"; readonly inputs: readonly number[] }
  /** The left operand and the right one. */
  | { readonly kind: "not"; readonly inputs: readonly [number, number] }
  | HopGate
  | ValueGate;

/** A judged test, at a node of that level. */
export interface ValueGate {
  readonly kind: "value";
  readonly inputs: readonly number[];
  readonly verdict: Verdict;
  readonly level: number;
  readonly test: Test;
}

/** An `or` over ground nodes of one name, which tuples of a relation lead to: one hop away. */
export interface HopGate {
  readonly kind: "hop";
  readonly inputs: readonly number[];
  readonly relation: string;
  /**
   * In a walk, which follows tuples with any relation of the subject: by input the least one of these
   * relations, unless it is empty. Undefined in a relation: there it is the name of the node.
   */
  readonly subjectRelations: ReadonlyMap<number, string> | undefined;
}

/** A node of a network at one entity. */
export interface GroundNode {
  readonly node: Node;
  readonly entity: Entity;
  /** Hops of the shortest path to it from the question, once it is read. */
  level: number;
}

/** Is never added to. */
const none: number[] = [];

/**
 * Ground formulas in which every operator is a gate. A gate knows who reads it, so a formula of
 * thousands of operands is not read again for each of them.
 */
export class Circuit {
  readonly #gates: Gate[] = [];
  readonly #nodes: (GroundNode | undefined)[] = [];
  readonly #users: number[][] = [];
  #nodeCount = 0;

  /** By number. Gate 0 is the question. */
  get gates(): readonly Gate[] {
    return this.#gates;
  }

  /** By gate, the ground node that it stands for; undefined for an operand inside a formula. */
  get nodes(): readonly (GroundNode | undefined)[] {
    return this.#nodes;
  }

  /** How many gates are ground nodes. */
  get nodeCount(): number {
    return this.#nodeCount;
  }

  /** By gate, the gates that have it as an input: as often as they have. */
  get users(): readonly (readonly number[])[] {
    return this.#users;
  }

  /** Adds a gate. Returns its number. */
  add(gate: Gate, node?: GroundNode): number {
    const id = this.#gates.length;
    this.#gates.push(gate);
    this.#nodes.push(node);
    if (node !== undefined) this.#nodeCount += 1;
    this.#users.push(none);
    this.#connect(id, gate);
    return id;
  }

  /** Puts the formula of a ground node in the place of its open gate. */
  close(id: number, gate: Gate): void {
    this.#gates[id] = gate;
    this.#connect(id, gate);
  }

  #connect(id: number, { inputs }: Gate): void {
    for (const input of inputs) {
      const users = this.#users[input];
      // Most gates have one user, and an array that grows has room for 17.
      if (users === undefined || users.length === 0) this.#users[input] = [id];
      else users.push(id);
    }
  }
}
