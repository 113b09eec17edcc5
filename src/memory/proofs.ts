import { must, unreachable } from "../base/assert.ts";
import { compareTexts, sortInSteps } from "../base/sort-steps.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Subject } from "../base/tuple.ts";
import { ALLOWED } from "../base/verdict.ts";
import type { Test } from "../plan/plan.ts";
import type { Circuit, HopGate } from "./circuit.ts";
import type { Model } from "./model.ts";

/** A shortest proof of each gate that is allowed. */
export interface Proofs {
  /** Whether no gate is allowed. */
  readonly isEmpty: boolean;
  /** The most hops on a path of the proof; undefined if the gate is not allowed. */
  hopsOf(gate: number): number | undefined;
  /** The input by which the proof of an allowed `or` goes on. */
  choiceOf(gate: number): number;
}

/** Names of entities that an answer rests on, each with its verdict. The depth does not count. */
export interface Decided {
  /** The question is gate 0. */
  readonly circuit: Circuit;
  readonly model: Model;
  readonly proofs: Proofs;
}

/** A gate that one more of its inputs speaks for. `key` is that of the fact by which it does. */
interface Hearing {
  readonly gate: number;
  readonly key: string;
}

/** The length of the shortest proof of a gate. */
interface Length {
  /** Its place among all lengths. */
  readonly order: number;
  readonly hops: number;
  readonly key: string;
}

/**
 * Finds a shortest proof of each allowed gate, by Knuth's generalisation of Dijkstra's algorithm. The
 * length of a proof is a triple, compared in this order: the most hops on a path of it; the key of the
 * first fact on that path, seen from the gate; the steps at the entity up to this fact. An `or` has the
 * least of its inputs, an `and` the greatest, a `not` that of its left side. Each step makes a proof
 * longer. So gates are settled in the order of their lengths, and no proof runs in a circle.
 *
 * Needs: the model of the circuit, and the subject that it was grounded for.
 */
export function* shortestProofs(circuit: Circuit, model: Model, subject: Subject): Steps<Proofs> {
  const search = new ProofSearch(circuit, model, subject);
  yield* search.run();
  return search;
}

/** Where no gate is allowed. */
export const noProofs: Proofs = {
  isEmpty: true,
  hopsOf: () => undefined,
  choiceOf: () => must<number>(undefined, "a gate that is not allowed has no proof"),
};

class ProofSearch implements Proofs {
  readonly #circuit: Circuit;
  readonly #model: Model;
  readonly #subject: Subject;
  /** By gate that is settled. */
  readonly #lengths = new Map<number, Length>();
  /** By `and` that was heard of, its inputs that are not settled. */
  readonly #waiting = new Map<number, number>();
  readonly #pace = new Pace();
  #waves = 0;

  constructor(circuit: Circuit, model: Model, subject: Subject) {
    this.#circuit = circuit;
    this.#model = model;
    this.#subject = subject;
  }

  get isEmpty(): boolean {
    return this.#lengths.size === 0;
  }

  *run(): Steps<void> {
    let heard: Hearing[] = [];
    for (const [id, verdict] of this.#model.entries()) {
      if (this.#pace.step()) yield;
      if (verdict !== ALLOWED) continue;
      const gate = this.#circuit.gates[id];
      if (gate?.kind === "value") heard.push({ gate: id, key: this.#keyOfTest(gate.test) });
    }
    for (let hops = 0; heard.length > 0; hops += 1) heard = yield* this.#settleLevel(heard, hops);
  }

  hopsOf(gate: number): number | undefined {
    return this.#lengths.get(gate)?.hops;
  }

  choiceOf(gate: number): number {
    const or = must(this.#circuit.gates[gate], "gates refer to each other");
    const length = must(this.#lengths.get(gate), "an allowed gate has a proof");
    const isChoice = (input: number): boolean => {
      const from = this.#lengths.get(input);
      if (from === undefined) return false;
      // It was settled when it first heard of the input.
      return or.kind === "hop"
        ? from.hops === length.hops - 1 && this.#keyOfHop(or, input) === length.key
        : from.order + 1 === length.order;
    };
    return must(or.inputs.find(isChoice), "an allowed `or` was settled by one of its inputs");
  }

  /** Settles all gates with proofs of so many hops. Returns those that are heard of one hop further. */
  *#settleLevel(heard: readonly Hearing[], hops: number): Steps<Hearing[]> {
    const far: Hearing[] = [];
    const sorted = yield* sortInSteps(heard, (a, b) => compareTexts(a.key, b.key));
    for (let start = 0, end = 0; start < sorted.length; start = end) {
      const key = must(sorted[start], "the group has a first one").key;
      while (sorted[end]?.key === key) end += 1;
      let wave = sorted.slice(start, end).map(({ gate }) => gate);
      while (wave.length > 0) {
        const next: number[] = [];
        this.#waves += 1;
        for (const gate of wave) {
          if (this.#pace.step()) yield;
          if (!this.#settles(gate)) continue;
          this.#lengths.set(gate, { order: this.#waves, hops, key });
          for (const user of this.#circuit.users[gate] ?? []) {
            if (this.#model[user] !== ALLOWED || this.#lengths.has(user)) continue;
            const by = must(this.#circuit.gates[user], "gates refer to each other");
            if (by.kind === "hop") far.push({ gate: user, key: this.#keyOfHop(by, gate) });
            else next.push(user);
          }
        }
        wave = next;
      }
    }
    return far;
  }

  /** Whether an allowed gate is settled by one more of its inputs. */
  #settles(gate: number): boolean {
    if (this.#lengths.has(gate)) return false;
    const and = this.#circuit.gates[gate];
    // An allowed `not` hears of its left side alone: the right side is denied.
    if (and?.kind !== "and") return true;
    const waiting = (this.#waiting.get(gate) ?? and.inputs.length) - 1;
    this.#waiting.set(gate, waiting);
    return waiting === 0;
  }

  /** Keys are compared at one entity alone, so they need not name it. */
  #keyOfTest(test: Test): string {
    switch (test.kind) {
      case "self":
        return "";
      case "direct":
        return `${test.relations[0]}\0${this.#subject.type}\0${this.#subject.id}`;
      case "attribute":
        return test.name;
      case "rule":
        return test.rule.name;
      default:
        return unreachable(test);
    }
  }

  #keyOfHop({ relation, subjectRelations }: HopGate, input: number): string {
    const { node, entity } = must(this.#circuit.nodes[input], "a hop leads to a node");
    const on = subjectRelations === undefined ? node.name : (subjectRelations.get(input) ?? "");
    return `${relation}\0${entity.type}\0${entity.id}\0${on}`;
  }
}
