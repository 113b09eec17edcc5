import { must, unreachable } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../base/verdict.ts";
import type { Circuit, Gate, ValueGate } from "./circuit.ts";

/**
 * By gate: allowed, denied, or unknown, which rests on an unknown value, on an open gate or on a cycle
 * through a negation.
 */
export type Model = readonly Verdict[];

/** How a judged test counts. */
export type TestReading = (value: ValueGate) => Verdict;

/**
 * The well-founded model of a circuit (Van Gelder, Ross, Schlipf). What follows from decided gates
 * is decided, and gates that rest on nothing but each other are denied, until neither finds more.
 *
 * Every undecided gate keeps a support that could yet allow it, and supports never run in a circle.
 * Only gates whose support fell away are looked at again, so that a long chain of negations costs
 * its length and not the square of it, as computing a set anew for each of its links would.
 */
export function findModel(circuit: Circuit, read: TestReading): Steps<Model> {
  return new Derivation(circuit).run(read);
}

/** The model of a circuit in which no value is allowed or unknown, and no gate is open. */
export function allDenied({ gates }: Circuit): Model {
  return gates.map(() => DENIED);
}

class Derivation {
  readonly #circuit: Circuit;
  readonly #model: Verdict[];
  /** Inputs of an `or` that are not denied, of an `and` that are not allowed. */
  readonly #waiting: number[];
  /** By gate, the input that supports an `or`; other gates rest on all that they need. */
  readonly #supports: (number | undefined)[];
  /** Decided gates whose users do not know it yet. */
  readonly #decided: number[] = [];
  /** Gates whose support was denied. */
  #unsupported: number[] = [];
  readonly #pace = new Pace();

  constructor(circuit: Circuit) {
    this.#circuit = circuit;
    this.#model = circuit.gates.map(() => UNKNOWN);
    this.#waiting = circuit.gates.map(({ inputs }) => inputs.length);
    this.#supports = circuit.gates.map(() => undefined);
  }

  *run(read: TestReading): Steps<Model> {
    for (const [id, gate] of this.#circuit.gates.entries()) {
      if (this.#pace.step()) yield;
      if (gate.kind === "value") this.#decide(id, read(gate));
      else if (gate.kind !== "open" && gate.inputs.length === 0) {
        this.#decide(id, gate.kind === "and" ? ALLOWED : DENIED);
      }
    }
    yield* this.#propagate();
    // At first no gate has a support.
    const open = new Set<number>();
    for (const id of this.#circuit.gates.keys()) {
      if (this.#pace.step()) yield;
      if (this.#isOpen(id)) open.add(id);
    }
    if (open.size === 0) return this.#model;
    yield* this.#findSupports(open);
    for (;;) {
      yield* this.#propagate();
      if (this.#unsupported.length === 0) return this.#model;
      yield* this.#findSupports(yield* this.#restingOn(this.#unsupported));
      this.#unsupported = [];
    }
  }

  #decide(id: number, verdict: Verdict): void {
    if (verdict === UNKNOWN || !this.#isOpen(id)) return;
    this.#model[id] = verdict;
    this.#decided.push(id);
  }

  #isOpen(id: number): boolean {
    return this.#model[id] === UNKNOWN;
  }

  *#propagate(): Steps<void> {
    for (let id = this.#decided.pop(); id !== undefined; id = this.#decided.pop()) {
      if (this.#pace.step()) yield;
      for (const user of this.#usersOf(id)) {
        if (this.#isOpen(user)) this.#hear(user, id);
      }
    }
  }

  /** What a gate makes of the decision of one of its inputs. */
  #hear(id: number, input: number): void {
    const gate = this.#gate(id);
    const verdict = this.#model[input];
    switch (gate.kind) {
      case "or":
      case "hop":
        if (verdict === ALLOWED) this.#decide(id, ALLOWED);
        else if (this.#countDown(id) === 0) this.#decide(id, DENIED);
        else if (this.#supports[id] === input) this.#unsupported.push(id);
        return;
      case "and":
        if (verdict === DENIED) this.#decide(id, DENIED);
        else if (this.#countDown(id) === 0) this.#decide(id, ALLOWED);
        return;
      case "not": {
        const left = this.#model[gate.inputs[0]];
        const right = this.#model[gate.inputs[1]];
        if (left === DENIED || right === ALLOWED) this.#decide(id, DENIED);
        else if (left === ALLOWED && right === DENIED) this.#decide(id, ALLOWED);
        return;
      }
      case "value":
      case "open":
        return;
      default:
        unreachable(gate);
    }
  }

  #countDown(id: number): number {
    const waiting = must(this.#waiting[id], "every gate counts its inputs") - 1;
    this.#waiting[id] = waiting;
    return waiting;
  }

  /** The undecided gates whose support is among the given ones, directly or through others. */
  *#restingOn(unsupported: readonly number[]): Steps<Set<number>> {
    const shaken = new Set(unsupported.filter((id) => this.#isOpen(id)));
    // Grows while it is read.
    for (const id of shaken) {
      if (this.#pace.step()) yield;
      for (const user of this.#usersOf(id)) {
        if (this.#isOpen(user) && this.#restsOn(user, id)) shaken.add(user);
      }
    }
    return shaken;
  }

  #restsOn(id: number, input: number): boolean {
    const gate = this.#gate(id);
    switch (gate.kind) {
      case "or":
      case "hop":
        return this.#supports[id] === input;
      case "and":
        return true;
      case "not":
        return gate.inputs[0] === input;
      case "value":
      case "open":
        return false;
      default:
        return unreachable(gate);
    }
  }

  /**
   * Finds a support for each of the gates, outside of them or in one that has found its own, and
   * denies the rest. Breadth first: so each support carries few gates, and few are shaken with it.
   */
  *#findSupports(shaken: Set<number>): Steps<void> {
    const found: number[] = [];
    for (const id of shaken) {
      if (this.#pace.step()) yield;
      if (this.#isSupported(id, shaken)) found.push(id);
    }
    for (const id of found) shaken.delete(id);
    // Grows while it is read.
    for (const id of found) {
      if (this.#pace.step()) yield;
      for (const user of this.#usersOf(id)) {
        if (!shaken.has(user) || !this.#isSupportedBy(user, id, shaken)) continue;
        shaken.delete(user);
        found.push(user);
      }
    }
    for (const id of shaken) this.#decide(id, DENIED);
  }

  /** Whether a gate rests on none of the shaken ones. */
  #isSupported(id: number, shaken: ReadonlySet<number>): boolean {
    const isFirm = (input: number): boolean => this.#model[input] !== DENIED && !shaken.has(input);
    const gate = this.#gate(id);
    switch (gate.kind) {
      case "or":
      case "hop":
        this.#supports[id] = gate.inputs.find(isFirm);
        return this.#supports[id] !== undefined;
      case "and":
        return gate.inputs.every(isFirm);
      case "not":
        return isFirm(gate.inputs[0]);
      case "value":
      case "open":
        return true;
      default:
        return unreachable(gate);
    }
  }

  /** The same, when it is one of its inputs that has just found its own. */
  #isSupportedBy(id: number, input: number, shaken: ReadonlySet<number>): boolean {
    const { kind } = this.#gate(id);
    if (kind !== "or" && kind !== "hop") return this.#isSupported(id, shaken);
    this.#supports[id] = input;
    return true;
  }

  #gate(id: number): Gate {
    return must(this.#circuit.gates[id], "gates refer to each other");
  }

  #usersOf(id: number): readonly number[] {
    return must(this.#circuit.users[id], "every gate has its users");
  }
}
