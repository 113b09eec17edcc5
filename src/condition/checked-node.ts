import type { ASTNode } from "@marcbachmann/cel-js";

import type { AttributeType } from "../base/tuple.ts";
import { dynType, parseStaticType } from "./static-type.ts";
import type { StaticType } from "./static-type.ts";
import type { ConditionTree } from "./tree.ts";

/** What the names at a place of the text mean. */
export interface Scope {
  readonly parameters: ReadonlyMap<string, AttributeType>;
  /** Variables of the comprehensions around the place; they hide parameters and `context`. */
  readonly variables: ReadonlySet<string>;
}

export type Convert = (node: ASTNode, scope: Scope) => ConditionTree;

/** The type that the checker wrote on a node; dyn where it had nothing to check. */
export function checkedType(node: ASTNode): StaticType {
  const checked = "checkedType" in node ? node.checkedType : undefined;
  if (typeof checked !== "object" || checked === null || !("name" in checked)) return dynType;
  return parseStaticType(String(checked.name)) ?? dynType;
}

/** Where a node stands in the text, in UTF-16 units. */
export function placeOf(node: ASTNode): { readonly start: number; readonly end: number } {
  return { start: node.start, end: node.end };
}
