import { must, unreachable } from "../base/assert.ts";
import { compareTexts, sortInSteps } from "../base/sort-steps.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Subject } from "../base/tuple.ts";
import { ALLOWED } from "../base/verdict.ts";
import type { Test } from "../plan/plan.ts";
import { type Circuit, inputsOf, type Wire } from "./circuit.ts";
import type { GroundNode } from "./ground.ts";
import type { Model } from "./model.ts";

/** A shortest proof of each gate that is allowed. */
export interface Proofs {
  /** The most hops on a path of the proof; undefined if the gate is not allowed. */
  hopsOf(gate: number): number | undefined;
  /** The wire by which the proof of an allowed `or` goes on. */
  choiceOf(gate: number): Wire;
}

/** A gate that one more of its inputs speaks for. `key` is that of the fact by which it does. */
interface Hearing {
  readonly gate: number;
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
export function* shortestProofs(
  nodes: readonly GroundNode[],
  circuit: Circuit,
  model: Model,
  subject: Subject,
): Steps<Proofs> {
  const search = new ProofSearch(nodes, circuit, model, subject);
  yield* search.run();
  return search;
}

class ProofSearch implements Proofs {
  readonly #nodes: readonly GroundNode[];
  readonly #circuit: Circuit;
  readonly #model: Model;
  readonly #subject: Subject;
  /** By gate, the place of its length among all lengths; undefined before it is settled. */
  readonly #order: (number | undefined)[];
  readonly #hops: number[];
  readonly #keys: string[];
  /** Inputs of an `and` that are not settled. */
  readonly #waiting: number[];
  readonly #pace = new Pace();
  #waves = 0;

  constructor(nodes: readonly GroundNode[], circuit: Circuit, model: Model, subject: Subject) {
    this.#nodes = nodes;
    this.#circuit = circuit;
    this.#model = model;
    this.#subject = subject;
    this.#order = circuit.gates.map(() => undefined);
    this.#hops = circuit.gates.map(() => 0);
    this.#keys = circuit.gates.map(() => "");
    this.#waiting = circuit.gates.map((gate) => (gate.kind === "and" ? gate.inputs.length : 1));
  }

  *run(): Steps<void> {
    let heard: Hearing[] = [];
    for (const [id, gate] of this.#circuit.gates.entries()) {
      if (this.#pace.step()) yield;
      if (gate.kind !== "value" || this.#model[id] !== ALLOWED) continue;
      heard.push({ gate: id, key: this.#keyOfTest(gate.test) });
    }
    for (let hops = 0; heard.length > 0; hops += 1) heard = yield* this.#settleLevel(heard, hops);
  }

  hopsOf(gate: number): number | undefined {
    return this.#order[gate] === undefined ? undefined : this.#hops[gate];
  }

  choiceOf(gate: number): Wire {
    const or = must(this.#circuit.gates[gate], "gates refer to each other");
    const choice = inputsOf(or).find((wire) => this.#isChoice(gate, wire));
    return must(choice, "an allowed `or` was settled by one of its inputs");
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
          this.#order[gate] = this.#waves;
          this.#hops[gate] = hops;
          this.#keys[gate] = key;
          for (const user of this.#circuit.users[gate] ?? []) {
            if (this.#order[user.gate] !== undefined) continue;
            if (user.hops === 0) next.push(user.gate);
            else far.push({ gate: user.gate, key: this.#keyOfHop(user.via, gate) });
          }
        }
        wave = next;
      }
    }
    return far;
  }

  /** Whether a gate is settled by one more of its inputs. */
  #settles(gate: number): boolean {
    if (this.#model[gate] !== ALLOWED || this.#order[gate] !== undefined) return false;
    // An allowed `not` hears of its left side alone: the right side is denied.
    const waiting = must(this.#waiting[gate], "every gate waits for its inputs") - 1;
    this.#waiting[gate] = waiting;
    return waiting === 0;
  }

  /** Whether the gate was settled when it first heard of this input. */
  #isChoice(gate: number, { gate: input, hops, via }: Wire): boolean {
    const heardIn = this.#order[input];
    if (heardIn === undefined) return false;
    if (hops === 0) return heardIn + 1 === this.#order[gate];
    return (
      this.hopsOf(input) === must(this.#hops[gate], "every gate has hops") - 1 &&
      this.#keyOfHop(via, input) === this.#keys[gate]
    );
  }

  /** Keys are compared at one entity alone, so they need not name it. */
  #keyOfTest(test: Test | undefined): string {
    switch (test?.kind) {
      case undefined:
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

  #keyOfHop(via: string | undefined, gate: number): string {
    const { node, entityId } = must(this.#nodes[gate], "a hop leads to a node");
    return `${via}\0${node.entityType}\0${entityId}`;
  }
}
