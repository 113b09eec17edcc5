import type { Entity } from "../base/tuple.ts";
import type { ExpressionNode } from "../language/tree.ts";
import type { Formula, Node } from "../plan/network.ts";
import type { ProofNode, ProofStep, SchemaPlace } from "./explanation.ts";
import type { ProofHop } from "./proof-hops.ts";

/** A part of the tree that is not made yet: a gate, and what it stands for at an entity. */
export interface Part {
  readonly gate: number;
  readonly entity: Entity;
  readonly name: string;
  readonly place: SchemaPlace;
  readonly path: Path;
  readonly meaning: Meaning;
}

/** From the question to the children of a node. */
export interface Path {
  readonly hops: number;
  /** All of it is allowed: it is a part of the proof of the question, and of no denial. */
  readonly isProof: boolean;
  /** Of the children in the tree; the question is at 1. */
  readonly level: number;
  readonly children: ProofNode[];
}

export type Meaning =
  /** Undefined without an expression: a relation, an attribute or the rule that is asked. */
  | { readonly kind: "name"; readonly node: Node; readonly expression: ExpressionNode | undefined }
  | { readonly kind: "operand"; readonly formula: Formula; readonly expression: ExpressionNode }
  /** One of several tuples that lead on. */
  | { readonly kind: "hop"; readonly hop: ProofHop; readonly reason: "walk" | "userset" };

/** What a part rests on. */
export type ProofEvidence = Pick<ProofStep, "reason" | "tuple" | "attribute" | "rule">;

/** The same with the parts below it. */
export interface Grounds {
  readonly evidence: ProofEvidence;
  readonly next: readonly Part[];
}
