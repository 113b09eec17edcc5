import { Environment } from "@marcbachmann/cel-js";

import type { AttributeType } from "../base/tuple.ts";
import { parameterTypes } from "./static-type.ts";

/**
 * Bounds of a rule's text. The checker, the evaluator and Postgres all recurse over the tree, so
 * these keep each of them far from the end of its stack.
 */
export const ruleLimits = {
  maxAstNodes: 2_000,
  maxDepth: 64,
  maxListElements: 1_000,
  maxMapEntries: 1_000,
  maxCallArguments: 8,
} as const;

const timestamp = "google.protobuf.Timestamp";
const duration = "google.protobuf.Duration";

/** Of the standard library, but unknown to the parser's library; the evaluator is our own. */
const missingOverloads = [
  `string(${timestamp}): string`,
  `string(${duration}): string`,
  `int(${timestamp}): int`,
  // So that an unsigned integer is refused by its own message and not for want of this.
  "int(uint): int",
  `timestamp(${timestamp}): ${timestamp}`,
  `duration(${duration}): ${duration}`,
  "matches(string, string): bool",
] as const;

const missingOrders = ["<", "<=", ">", ">="].map((operator) => `bytes ${operator} bytes`);

const base = makeBase();

/** What a rule's text is parsed and checked in: `context` and the parameters are all it can name. */
export function environmentFor(parameters: ReadonlyMap<string, AttributeType>): Environment {
  const environment = base.clone();
  for (const [name, type] of parameters) {
    environment.registerVariable(name, parameterTypes[type]);
  }
  return environment;
}

/** Whether a parameter may bear the name: names and words of the expression language are taken. */
export function isFreeName(name: string): boolean {
  try {
    base.clone().registerVariable(name, "dyn");
    return true;
  } catch {
    return false;
  }
}

function makeBase(): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: ruleLimits,
  });
  // The checker needs the types alone: nothing is ever run here, so the handlers do nothing.
  const unused = (): null => null;
  for (const signature of missingOverloads) environment.registerFunction(signature, unused);
  for (const signature of missingOrders) environment.registerOperator(signature, () => false);
  return environment.registerVariable({
    name: "context",
    schema: { data: "map<string, dyn>" },
  });
}
