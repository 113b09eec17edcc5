import type { SourceSpan } from "../language/tree.ts";

export type DeclaredKind =
  | "entity"
  | "relation"
  | "attribute"
  | "permission"
  | "rule"
  | "parameter";

/** A declaration in a text, which may have mistakes. */
export interface Declaration {
  readonly kind: DeclaredKind;
  /** `document`, `document#viewer` or, for a parameter, `is_live(ends`. */
  readonly key: string;
  readonly name: SourceSpan;
  /** From its first word to its last. For a rule and an entity to the closing brace, if there is one. */
  readonly whole: SourceSpan;
  /** The types of a relation, or the one of an attribute or a parameter, as they are written. */
  readonly types: readonly DeclaredType[];
  /** The relations, attributes and permissions of an entity, or the parameters of a rule. */
  readonly children: readonly Declaration[];
}

/** `@type`, `@type#relation`, or the type of an attribute. */
export interface DeclaredType {
  readonly type: string;
  /** "" for the type itself. */
  readonly relation: string;
}

/** What a word of a text names. Which declarations that are depends on the whole schema. */
export type Naming =
  | { readonly role: "declaration" }
  /** An entity. */
  | { readonly role: "type" }
  /** A relation, an attribute or a permission of that entity. */
  | { readonly role: "member"; readonly entity: string }
  /** The type of an attribute or of a parameter. */
  | { readonly role: "value-type" }
  /** What a walk asks of the entities in a relation. */
  | { readonly role: "walked"; readonly entity: string; readonly relation: string }
  | { readonly role: "rule" }
  /** An attribute of the entity, and the parameter of that name of the rule. */
  | { readonly role: "argument"; readonly entity: string; readonly rule: string }
  /** A parameter of the rule, in its body. */
  | { readonly role: "parameter"; readonly rule: string }
  /** What a model test asks of the entity: a member, or a rule. */
  | { readonly role: "asked"; readonly entity: string }
  /** What stands where no name has a meaning, such as the third step of a walk. */
  | { readonly role: "unknown" };

/** A word that names something. */
export interface Mention {
  readonly text: string;
  readonly span: SourceSpan;
  readonly naming: Naming;
  /** The key of the declaration in which it stands. "" if it stands in none. */
  readonly within: string;
}

/** The key of a member of an entity. */
export function memberKey(entity: string, name: string): string {
  return `${entity}#${name}`;
}

/** The key of a parameter of a rule. */
export function parameterKey(rule: string, name: string): string {
  return `${rule}(${name}`;
}

/** The name of a declaration. "" while it has none. */
export function nameOf({ key }: Declaration): string {
  return key.slice(key.search(/[#(]/) + 1);
}
