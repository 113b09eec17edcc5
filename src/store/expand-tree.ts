import type { AttributeValue, Entity, Subject } from "../base/tuple.ts";

/** How an answer comes about: a node for each operator, userset and walk, subjects as leaves. */
export interface ExpandTree {
  readonly entity: Entity;
  /** The relation, permission, attribute or rule that the node stands for. */
  readonly name: string;
  /** Attribute names when the node is a rule; else empty. */
  readonly arguments: readonly string[];
  readonly node: ExpandNode;
}

export type ExpandNode =
  | {
      readonly kind: "union" | "intersection" | "exclusion";
      readonly children: readonly ExpandTree[];
    }
  | { readonly kind: "subjects"; readonly subjects: readonly Subject[] }
  | { readonly kind: "value"; readonly value: AttributeValue }
  | { readonly kind: "values"; readonly values: ReadonlyMap<string, AttributeValue> };
