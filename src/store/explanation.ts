import type { Attribute, AttributeValue, Entity, SnapToken, Tuple } from "../base/tuple.ts";
import type { Verdict } from "../base/verdict.ts";
import type { Position } from "../language/source.ts";

/** Why a check says what it says, at one state. */
export interface ExplainAnswer extends Explanation {
  /** The state that was read. */
  readonly snapToken: SnapToken;
}

export interface Explanation {
  readonly allowed: boolean;
  readonly proof: ProofNode;
  /** Parts of the tree are left out: it would be larger than `explanationMax`. */
  readonly isTruncated: boolean;
}

/** What ends a branch, or what its children are. */
export type ProofReason =
  /** A tuple to the asked subject itself. */
  | "tuple"
  | "attribute"
  | "rule"
  /** Operators. A permission with a single operand is a union of one. */
  | "union"
  | "intersection"
  | "exclusion"
  /** Over tuples to the subject entities of a relation. */
  | "walk"
  /** Over tuples to usersets. Allowed without a tuple: it is the asked subject. */
  | "userset"
  /** No tuple leads on from here. */
  | "no_tuple"
  /** It holds, but only by a path that is longer than the depth. */
  | "depth";

/**
 * A step of a proof or of a denial. What is allowed has the steps of a shortest proof alone. What is
 * not has all that was tried. There, and below, a name of an entity has its children only where it
 * comes first, level by level: a denial may lead back to itself.
 */
export interface ProofNode extends ProofStep {
  readonly children: readonly ProofNode[];
}

/** A node without what it rests on. */
export interface ProofStep {
  readonly entity: Entity;
  /** A relation, permission, attribute or rule; of an operand the permission that it stands in. */
  readonly name: string;
  /** UNKNOWN: it rests on a fault or on a cycle through `not`, without effect on the answer. */
  readonly verdict: Verdict;
  readonly reason: ProofReason;
  readonly place: SchemaPlace;
  readonly tuple?: Tuple | undefined;
  /** Absent if the attribute has no value, or one that is too long. */
  readonly attribute?: Attribute | undefined;
  readonly rule?: RuleValues | undefined;
}

/** Part of a schema text, as it is written there. */
export interface SchemaPlace {
  readonly text: string;
  readonly position: Position;
}

/** A rule with the values of its parameters, without values that are too long. */
export interface RuleValues {
  readonly name: string;
  readonly values: ReadonlyMap<string, AttributeValue>;
  readonly body: SchemaPlace;
}
