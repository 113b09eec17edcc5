import type { Pace } from "../base/steps.ts";
import type { Budget } from "./order.ts";
import { fault, type Outcome } from "./value.ts";

/** What counts the work of an evaluation. */
export interface Work {
  /** Of the whole rule, for all work that is not linear in its text and in each of its values. */
  readonly budget: Budget;
  readonly pace: Pace;
  /** Those that were matched so far. */
  readonly patterns: Set<string>;
}

/**
 * Comprehensions nest, so their work is the product of the sizes of their lists. What is put together grows with
 * each `+`, and a list that holds another one many times takes as long to compare as if it held copies. This much
 * work takes about a tenth of a second.
 */
export const mostSteps = 1_000_000;

export const tooManySteps = fault("the rule takes too many steps");

/** The cost of going through a value, which most operations do. */
export function weight(outcome: Outcome): number {
  if (typeof outcome === "string") return outcome.length >> 6;
  if (typeof outcome !== "object" || outcome === null) return 0;
  if (outcome.kind === "list") return outcome.items.length;
  return outcome.kind === "bytes" ? outcome.data.length >> 6 : 0;
}

/** Counts work that cannot yield. */
export function spend({ budget, pace }: Work, steps: number): void {
  budget.steps -= steps;
  pace.spend(steps);
}
