import type { RuleDefinition } from "../language/schema.ts";

/**
 * What a plan answers: may a subject of this type (and relation) do this on an entity of this
 * type? Ids, tenant, snapshot, depth and context come when it runs, so one plan serves them all.
 */
export interface Question {
  readonly entityType: string;
  readonly permission: string;
  readonly subjectType: string;
  /** "" asks for the subject itself, else for the userset of that relation. */
  readonly subjectRelation: string;
  /** Attribute names when `permission` is the name of a rule; else empty. */
  readonly arguments: readonly string[];
}

/** The one form that both engines read. `network` plans cannot be pushed down and are gathered. */
export type Plan = SearchPlan | NetworkPlan;

/**
 * An automaton whose search decides the answer: from (state 0, the asked entity) along the hops;
 * allowed as soon as a test accepts at a state that was reached.
 */
export interface SearchPlan {
  readonly kind: "search";
  readonly question: Question;
  readonly states: readonly State[];
  /** The usersets that userset hops lead to, for the search from the subject's end. */
  readonly usersets: readonly Userset[];
}

/** Tests and hops of a set of names of one entity type, with all names of the same entity inlined. */
export interface State {
  readonly id: number;
  readonly entityType: string;
  /** For people: the names it stands for, or the expression when it is an operand. */
  readonly label: string;
  /**
   * Must hold at every entity where this state is entered, the first included: the state counts
   * as reached there only then.
   */
  readonly arrival: readonly Guard[];
  readonly tests: readonly GuardedTest[];
  readonly hops: readonly GuardedHop[];
}

/**
 * A search of its own at the same entity. An operand of `and` is required, the right operand of
 * `not` is excluded. It never leads back to the state that it guards (the plan is stratified).
 */
export interface Guard {
  readonly state: number;
  readonly polarity: "required" | "excluded";
}

export interface GuardedTest {
  readonly guards: readonly Guard[];
  readonly test: Test;
}

export interface GuardedHop {
  readonly guards: readonly Guard[];
  readonly hop: Hop;
  readonly target: number;
}

export type Test =
  /** A tuple of one of the relations to exactly the asked subject. */
  | { readonly kind: "direct"; readonly relations: readonly string[] }
  /** The entity is the asked subject (whose type and relation are those of this state). */
  | { readonly kind: "self" }
  /** The boolean attribute is true. */
  | { readonly kind: "attribute"; readonly name: string }
  /** The rule holds for the same-named attributes of the entity. */
  | { readonly kind: "rule"; readonly rule: RuleDefinition };

export type Hop =
  /** To the usersets `subjectType#subjectRelation` that stand under one of the relations. */
  | {
      readonly kind: "userset";
      readonly relations: readonly string[];
      readonly subjectType: string;
      readonly subjectRelation: string;
      /** Index in `usersets` of the plan. */
      readonly userset: number;
    }
  /** To every subject entity of that type under one of the relations. */
  | {
      readonly kind: "walk";
      readonly relations: readonly string[];
      readonly subjectType: string;
    };

/** A userset of the schema that can be closed from the subject: it accepts by tuples alone. */
export interface Userset {
  readonly entityType: string;
  readonly relation: string;
  /** The asked subject may stand in it directly. */
  readonly direct: boolean;
  /** The asked subject is a userset of this very kind. */
  readonly self: boolean;
  /** Indices of the usersets that may stand in it. */
  readonly members: readonly number[];
}

/** Why a plan cannot be one search. */
export interface GatherReason {
  readonly entityType: string;
  readonly permission: string;
  readonly cause:
    | "several operands of `and` lead back to it"
    | "a negation leads back to it"
    | "it has too many alternatives";
}

/** Equations over (type, name) nodes: solved as a fixpoint over the part of the graph that is reached. */
export interface NetworkPlan {
  readonly kind: "network";
  readonly question: Question;
  readonly reasons: readonly GatherReason[];
  readonly network: Network;
}

export interface Network {
  /** Node 0 is the question. */
  readonly nodes: readonly NetworkNode[];
}

export interface NetworkNode {
  readonly id: number;
  readonly entityType: string;
  readonly name: string;
  readonly formula: Formula;
}

export type Formula =
  | { readonly kind: "or"; readonly operands: readonly Formula[] }
  | { readonly kind: "and"; readonly operands: readonly Formula[] }
  | { readonly kind: "not"; readonly left: Formula; readonly right: Formula }
  | { readonly kind: "test"; readonly test: Test }
  /** Another name of the same entity. */
  | { readonly kind: "node"; readonly node: number }
  | { readonly kind: "hop"; readonly hop: NetworkHop; readonly node: number };

export interface NetworkHop {
  readonly relation: string;
  readonly subjectType: string;
  /** Undefined in a walk: whatever the subject's relation. */
  readonly subjectRelation: string | undefined;
}
