import { must, unreachable } from "../../src/base/assert.ts";
import type { Formula, Program } from "./ground.ts";
import { distancesFrom, supportedAtoms, type Model } from "./well-founded.ts";

/**
 * How much depth it takes to know the answer. Truth needs a path, so its cost is that of the
 * shortest proof: a hop costs one, `and` and `not` the greater of their sides. Falsity that no
 * positive evidence speaks against is free (-Infinity). Where falsity rests on a negated truth, the
 * contract leaves room how an engine finds that out; hence two bounds.
 */
export interface Cost {
  /** With less, the answer cannot be known; 0 for a denial. */
  readonly least: number;
  /** With this much, it must be known. */
  readonly enough: number;
}

/** The cost of the root's answer; `enough` is Infinity when the model does not decide it. */
export function answerCost(program: Program, model: Model): Cost {
  const least = new CostTable(program, model, () => -Infinity).settle();
  const bounds = upperBounds(program, model, (key) => least.ofTruth(key));
  const enough = new CostTable(program, model, bounds).settle();
  return model.certain.has(program.root)
    ? { least: least.ofTruth(program.root), enough: enough.ofTruth(program.root) }
    : { least: 0, enough: enough.ofFalsity(program.root) };
}

/** The most hops on a path of the shortest proof of an atom that is certain; absence needs none. */
export function leastHops(program: Program, model: Model): (key: string) => number {
  const table = new CostTable(program, model, () => -Infinity).settle();
  return (key) => table.ofTruth(key);
}

/** A denied atom is known to be denied once everything true that it can reach is known to be so. */
function upperBounds(
  program: Program,
  model: Model,
  truth: (key: string) => number,
): (key: string) => number {
  const supported = supportedAtoms(program);
  return (key) => {
    if (!supported.has(key)) return -Infinity;
    if (model.possible.has(key)) return Infinity;
    let bound = 0;
    for (const [reached, distance] of distancesFrom(program, key)) {
      bound = Math.max(bound, distance + (model.certain.has(reached) ? truth(reached) : 0));
    }
    return bound;
  };
}

class CostTable {
  readonly #program: Program;
  readonly #model: Model;
  readonly #truth = new Map<string, number>();
  readonly #falsity = new Map<string, number>();

  constructor(program: Program, model: Model, falsityBound: (key: string) => number) {
    this.#program = program;
    this.#model = model;
    for (const key of program.rules.keys()) {
      this.#truth.set(key, Infinity);
      this.#falsity.set(key, falsityBound(key));
    }
  }

  ofTruth(key: string): number {
    return must(this.#truth.get(key), "every atom has a cost");
  }

  ofFalsity(key: string): number {
    return must(this.#falsity.get(key), "every atom has a cost");
  }

  /** Lowers the costs, rule by rule, until no proof is left that is cheaper. */
  settle(): this {
    let changed = true;
    while (changed) {
      changed = false;
      for (const [key, formula] of this.#program.rules) {
        if (this.#model.certain.has(key)) {
          changed = lower(this.#truth, key, this.#truthOf(formula)) || changed;
        } else if (!this.#model.possible.has(key)) {
          changed = lower(this.#falsity, key, this.#falsityOf(formula)) || changed;
        }
      }
    }
    return this;
  }

  #truthOf(formula: Formula): number {
    switch (formula.kind) {
      case "value":
        return formula.value ? 0 : Infinity;
      case "fault":
        return Infinity;
      case "atom":
        return this.ofTruth(formula.key) + formula.hops;
      case "or":
        return Math.min(Infinity, ...formula.operands.map((one) => this.#truthOf(one)));
      case "and":
        return Math.max(0, ...formula.operands.map((one) => this.#truthOf(one)));
      case "not":
        return this.#model.possible.has(formula.right)
          ? Infinity
          : Math.max(this.#truthOf(formula.left), this.ofFalsity(formula.right));
      default:
        return unreachable(formula);
    }
  }

  #falsityOf(formula: Formula): number {
    switch (formula.kind) {
      case "value":
        return formula.value ? Infinity : -Infinity;
      case "fault":
        return Infinity;
      case "atom":
        return this.#model.possible.has(formula.key)
          ? Infinity
          : this.ofFalsity(formula.key) + formula.hops;
      case "or":
        return Math.max(-Infinity, ...formula.operands.map((one) => this.#falsityOf(one)));
      case "and":
        return Math.min(Infinity, ...formula.operands.map((one) => this.#falsityOf(one)));
      case "not":
        return Math.min(this.#falsityOf(formula.left), this.ofTruth(formula.right));
      default:
        return unreachable(formula);
    }
  }
}

function lower(costs: Map<string, number>, key: string, cost: number): boolean {
  if (cost >= must(costs.get(key), "every atom has a cost")) return false;
  costs.set(key, cost);
  return true;
}
