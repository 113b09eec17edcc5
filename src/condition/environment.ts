import { Environment } from "@marcbachmann/cel-js";

import type { AttributeType } from "../base/tuple.ts";
import { parameterTypes } from "./static-type.ts";

/**
 * Bounds for the text of a rule. The checker, the evaluator and Postgres all recurse over the tree.
 * The bounds keep each of them far from the end of its stack.
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

/** Overloads of the standard library that the parser's library lacks. The evaluator is our own. */
const missingOverloads = [
  `string(${timestamp}): string`,
  `string(${duration}): string`,
  `int(${timestamp}): int`,
  // With this, an unsigned integer is refused by its own message.
  "int(uint): int",
  `timestamp(${timestamp}): ${timestamp}`,
  `duration(${duration}): ${duration}`,
  "matches(string, string): bool",
] as const;

const missingOrders = ["<", "<=", ">", ">="].map((operator) => `bytes ${operator} bytes`);

const base = makeBase();

/**
 * The environment in which the text of a rule is parsed and checked. It can name only `context` and
 * the parameters.
 */
export function environmentFor(parameters: ReadonlyMap<string, AttributeType>): Environment {
  const environment = base.clone();
  for (const [name, type] of parameters) {
    environment.registerVariable(name, parameterTypes[type]);
  }
  return environment;
}

/**
 * Whether a parameter may have this name. Names and reserved words of the expression language are
 * taken.
 */
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
  // Only the types are needed. The handlers are never called.
  const unused = (): null => null;
  for (const signature of missingOverloads) environment.registerFunction(signature, unused);
  for (const signature of missingOrders) environment.registerOperator(signature, () => false);
  return environment.registerVariable({
    name: "context",
    schema: { data: "map<string, dyn>" },
  });
}
