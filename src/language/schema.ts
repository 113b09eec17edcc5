import type { AttributeType } from "../base/tuple.ts";
import type { Condition } from "../condition/condition.ts";

/** A compiled schema: every name in it is resolved. Immutable. */
export interface Schema {
  readonly entities: ReadonlyMap<string, EntityDefinition>;
  readonly rules: ReadonlyMap<string, RuleDefinition>;
}

/** Relations, attributes and permissions of an entity share one namespace. Maps are in source order. */
export interface EntityDefinition {
  readonly name: string;
  readonly relations: ReadonlyMap<string, RelationDefinition>;
  readonly attributes: ReadonlyMap<string, AttributeType>;
  readonly permissions: ReadonlyMap<string, PermissionDefinition>;
}

export interface RelationDefinition {
  readonly name: string;
  readonly types: readonly RelationType[];
}

/** `@type` has the relation "". `@type#relation` names a relation of that type. */
export interface RelationType {
  readonly type: string;
  readonly relation: string;
}

export interface PermissionDefinition {
  readonly name: string;
  readonly expression: Expression;
}

/**
 * `and`, `or` and `not` share one precedence and associate to the left; `not` is difference.
 * A `walk` asks `name` on every subject entity of `relation`.
 */
export type Expression =
  | { readonly kind: "or"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "and"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "not"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "relation" | "permission" | "attribute"; readonly name: string }
  | { readonly kind: "walk"; readonly relation: string; readonly name: string }
  | { readonly kind: "call"; readonly rule: string; readonly arguments: readonly string[] };

export interface RuleDefinition {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, AttributeType>;
  readonly condition: Condition;
}
