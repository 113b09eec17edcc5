import type { ASTNode } from "@marcbachmann/cel-js";

import type { AttributeType } from "../base/tuple.ts";
import { dynType, parseStaticType } from "./static-type.ts";
import type { StaticType } from "./static-type.ts";
import type { ConditionTree } from "./tree.ts";

/** The names that a part of the text can use. */
export interface RuleScope {
  readonly parameters: ReadonlyMap<string, AttributeType>;
  /** The variables of the enclosing comprehensions. They hide parameters and `context`. */
  readonly variables: ReadonlySet<string>;
  /** Of the whole rule. */
  readonly patterns: PatternBudget;
}

/** How many parts the patterns that are still to come may have. */
export interface PatternBudget {
  parts: number;
}

export type Convert = (node: ASTNode, scope: RuleScope) => ConditionTree;

/** The type that the checker wrote on a node. Dyn if it had nothing to check. */
export function checkedType(node: ASTNode): StaticType {
  const checked = "checkedType" in node ? node.checkedType : undefined;
  if (typeof checked !== "object" || checked === null || !("name" in checked)) return dynType;
  return parseStaticType(String(checked.name)) ?? dynType;
}

/** The range of a node in the text, in UTF-16 units. */
export function placeOf(node: ASTNode): { readonly start: number; readonly end: number } {
  return { start: node.start, end: node.end };
}
