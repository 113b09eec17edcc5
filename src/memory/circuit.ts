import { unreachable } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Verdict } from "../base/verdict.ts";
import type { Test } from "../plan/plan.ts";
import type { GroundFormula, GroundNode } from "./ground.ts";

/** The gate at the other end, `hops` away: one, over a tuple of the relation `via`, or none. */
export interface Wire {
  readonly gate: number;
  readonly hops: 0 | 1;
  readonly via?: string | undefined;
}

/** One operator of a ground formula. */
export type Gate =
  | { readonly kind: "or"; readonly inputs: readonly Wire[] }
  | { readonly kind: "and"; readonly inputs: readonly Wire[] }
  | { readonly kind: "not"; readonly left: Wire; readonly right: Wire }
  /** A judged test, at a node of that level. */
  | {
      readonly kind: "value";
      readonly verdict: Verdict;
      readonly level: number;
      readonly test?: Test | undefined;
    };

/**
 * Ground formulas in which every operator is a gate. The wires of a gate lead to all that follows from
 * it, so a formula of thousands of operands is not read again for each of them.
 */
export interface Circuit {
  /** Those of the ground nodes first, under their ids; gate 0 is the question. */
  readonly gates: readonly Gate[];
  /** By gate, the gates that have it as an input: as often as they have. */
  readonly users: readonly (readonly Wire[])[];
}

/** Takes the formulas of the nodes apart into gates. */
export function* circuitOf(
  nodes: readonly Pick<GroundNode, "level" | "formula">[],
): Steps<Circuit> {
  const pace = new Pace();
  const inner: Gate[] = [];
  const wireTo = (formula: GroundFormula, level: number): Wire => {
    if (formula.kind === "node")
      return { gate: formula.node, hops: formula.hops, via: formula.via };
    const gate = gateOf(formula, level);
    inner.push(gate);
    return { gate: nodes.length + inner.length - 1, hops: 0 };
  };
  const gateOf = (formula: GroundFormula, level: number): Gate => {
    switch (formula.kind) {
      case "or":
      case "and":
        return {
          kind: formula.kind,
          inputs: formula.operands.map((operand) => wireTo(operand, level)),
        };
      case "not":
        return {
          kind: "not",
          left: wireTo(formula.left, level),
          right: wireTo(formula.right, level),
        };
      case "value":
        return { kind: "value", verdict: formula.verdict, level, test: formula.test };
      case "node":
        return { kind: "or", inputs: [wireTo(formula, level)] };
      default:
        return unreachable(formula);
    }
  };
  const outer: Gate[] = [];
  for (const { formula, level } of nodes) {
    if (pace.step()) yield;
    outer.push(gateOf(formula, level));
  }
  const gates = outer.concat(inner);
  const users: Wire[][] = [];
  for (const _ of gates) {
    if (pace.step()) yield;
    users.push([]);
  }
  for (const [user, gate] of gates.entries()) {
    if (pace.step()) yield;
    for (const { gate: input, hops, via } of inputsOf(gate)) {
      users[input]?.push({ gate: user, hops, via });
    }
  }
  return { gates, users };
}

/** The gates that a gate reads. */
export function inputsOf(gate: Gate): readonly Wire[] {
  switch (gate.kind) {
    case "or":
    case "and":
      return gate.inputs;
    case "not":
      return [gate.left, gate.right];
    case "value":
      return [];
    default:
      return unreachable(gate);
  }
}
