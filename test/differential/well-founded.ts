import { must, unreachable } from "../../src/base/assert.ts";
import type { Formula, Program } from "./ground.ts";

/** What a program says of each atom: true, false, or neither (a fault, or a cycle through `not`). */
export interface Model {
  /** Atoms that are true for every value of the unknown ones. */
  readonly certain: ReadonlySet<string>;
  /** Atoms that are true or unknown. */
  readonly possible: ReadonlySet<string>;
}

/**
 * The well-founded model by alternating fixpoints: what is certain is derived with a negation only
 * where the negated atom is not even possible, what is possible wherever it is not certain.
 */
export function wellFoundedModel(program: Program): Model {
  let certain: ReadonlySet<string> = new Set<string>();
  for (;;) {
    const possible = leastFixpoint(program, { faultsHold: true, denied: negationOf(certain) });
    const next = leastFixpoint(program, { faultsHold: false, denied: negationOf(possible) });
    if (next.size === certain.size) return { certain, possible };
    certain = next;
  }
}

/**
 * Atoms that some positive evidence speaks for: negations taken as passed, faults as true. An atom
 * outside has no path at all, however deep one looks.
 */
export function supportedAtoms(program: Program): ReadonlySet<string> {
  return leastFixpoint(program, { faultsHold: true, denied: () => true });
}

function negationOf(atoms: ReadonlySet<string>): (key: string) => boolean {
  return (key) => !atoms.has(key);
}

interface Assumptions {
  readonly faultsHold: boolean;
  /** Whether `not key` passes. */
  readonly denied: (key: string) => boolean;
}

function leastFixpoint(program: Program, assumptions: Assumptions): ReadonlySet<string> {
  const derived = new Set<string>();
  for (;;) {
    const before = derived.size;
    for (const [key, formula] of program.rules) {
      if (holds(formula, derived, assumptions)) derived.add(key);
    }
    if (derived.size === before) return derived;
  }
}

function holds(formula: Formula, derived: ReadonlySet<string>, assumptions: Assumptions): boolean {
  switch (formula.kind) {
    case "value":
      return formula.value;
    case "fault":
      return assumptions.faultsHold;
    case "atom":
      return derived.has(formula.key);
    case "or":
      return formula.operands.some((one) => holds(one, derived, assumptions));
    case "and":
      return formula.operands.every((one) => holds(one, derived, assumptions));
    case "not":
      return holds(formula.left, derived, assumptions) && assumptions.denied(formula.right);
    default:
      return unreachable(formula);
  }
}

/** The same program with every fault decided one way. */
export function decideFaults(program: Program, value: boolean): Program {
  const rules = new Map([...program.rules].map(([key, one]) => [key, decided(one, value)]));
  return { ...program, rules };
}

function decided(formula: Formula, value: boolean): Formula {
  switch (formula.kind) {
    case "fault":
      return { kind: "value", value };
    case "or":
    case "and":
      return {
        kind: formula.kind,
        operands: formula.operands.map((operand) => decided(operand, value)),
      };
    case "not":
      return { kind: "not", left: decided(formula.left, value), right: formula.right };
    case "value":
    case "atom":
      return formula;
    default:
      return unreachable(formula);
  }
}

/** The atoms that a formula mentions, with the hops to them. */
function mentions(formula: Formula): readonly { key: string; hops: 0 | 1 }[] {
  switch (formula.kind) {
    case "value":
    case "fault":
      return [];
    case "atom":
      return [{ key: formula.key, hops: formula.hops }];
    case "or":
    case "and":
      return formula.operands.flatMap(mentions);
    case "not":
      return [...mentions(formula.left), { key: formula.right, hops: 0 }];
    default:
      return unreachable(formula);
  }
}

/** The atoms that `from` can reach, with the hops of the shortest path to each. */
export function distancesFrom(program: Program, from: string): ReadonlyMap<string, number> {
  const distances = new Map([[from, 0]]);
  let changed = true;
  while (changed) {
    changed = false;
    for (const [key, distance] of distances) {
      for (const next of mentions(must(program.rules.get(key), "every atom has a rule"))) {
        const longer = distance + next.hops;
        if ((distances.get(next.key) ?? Infinity) <= longer) continue;
        distances.set(next.key, longer);
        changed = true;
      }
    }
  }
  return distances;
}
