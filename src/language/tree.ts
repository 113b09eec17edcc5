import type { Position, Source } from "./source.ts";

/** A schema as it was written: statements in source order, names not yet resolved. */
export interface SchemaTree {
  readonly source: Source;
  readonly statements: readonly StatementNode[];
}

export type StatementNode = EntityNode | RuleNode;

export interface Name {
  readonly text: string;
  readonly position: Position;
}

/** The range of offsets in the source that the node was parsed from, `end` exclusive. */
export interface SourceSpan {
  readonly start: number;
  readonly end: number;
}

export interface EntityNode {
  readonly kind: "entity";
  readonly name: Name;
  readonly members: readonly MemberNode[];
  /** The offset of the closing brace. */
  readonly close: number;
}

export type MemberNode = RelationNode | AttributeNode | PermissionNode;

export interface RelationNode {
  readonly kind: "relation";
  readonly name: Name;
  readonly types: readonly RelationTypeNode[];
  readonly span: SourceSpan;
}

/** `@type` or `@type#relation`. */
export interface RelationTypeNode {
  readonly type: Name;
  readonly relation: Name | undefined;
}

export interface AttributeNode {
  readonly kind: "attribute";
  readonly name: Name;
  /** As written without blanks, such as `integer[]`. It may not be a type. */
  readonly type: Name;
  readonly span: SourceSpan;
}

export interface PermissionNode {
  readonly kind: "permission";
  readonly name: Name;
  readonly expression: ExpressionNode;
  readonly span: SourceSpan;
}

export interface RuleNode {
  readonly kind: "rule";
  readonly name: Name;
  readonly parameters: readonly ParameterNode[];
  /** The text between the braces, verbatim, and its offset in the source. */
  readonly body: { readonly text: string; readonly offset: number };
  readonly span: SourceSpan;
}

export interface ParameterNode {
  readonly name: Name;
  /** As for an attribute. */
  readonly type: Name;
}

/**
 * Operators associate to the left, so a long chain is a deep left spine. A walk over the tree must
 * go down the left side in a loop. The right side is no deeper than parentheses may nest.
 */
export type ExpressionNode = OperationNode | ReferenceNode | InvocationNode;

export interface OperationNode {
  readonly kind: "or" | "and" | "not";
  readonly left: ExpressionNode;
  readonly right: ExpressionNode;
  /** The position of the operator. */
  readonly position: Position;
  /** Whether it has parentheses of its own. */
  readonly grouped: boolean;
  /** Without parentheses of its own. */
  readonly span: SourceSpan;
}

/** `a`, `a.b`, and longer paths, which do not compile. */
export interface ReferenceNode {
  readonly kind: "reference";
  readonly first: Name;
  readonly rest: readonly Name[];
  readonly span: SourceSpan;
}

/** A call of a rule. */
export interface InvocationNode {
  readonly kind: "invocation";
  readonly rule: Name;
  readonly arguments: readonly ReferenceNode[];
  readonly span: SourceSpan;
}
