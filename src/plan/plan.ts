import type { RuleDefinition } from "../language/schema.ts";
import type { Node } from "./network.ts";
import type { RestrictedNetwork } from "./passes/2-restrict.ts";
import type { Question } from "./question.ts";

/** The one form that both engines read. */
export type Plan = SearchPlan | GatherPlan;

/** A question with the meaning of what it asks. */
export interface AskedNetwork {
  readonly question: Question;
  readonly network: RestrictedNetwork;
  readonly root: Node;
}

/**
 * An automaton whose search decides the answer: from (state 0, the asked entity) along the hops;
 * allowed as soon as a test accepts at a state that was reached. `validatePlan` says what holds of it.
 */
export interface SearchPlan extends AskedNetwork {
  readonly kind: "search";
  readonly states: readonly State[];
  /** The usersets that userset hops lead to, for the search from the subject's end. */
  readonly usersets: readonly Userset[];
}

/** Tests and hops of a set of names of one entity type, with all names of the same entity inlined. */
export interface State {
  readonly id: number;
  readonly entityType: string;
  /** For people: the names that it stands for; an operand has the name of its permission and `/operand`. */
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

/** The attributes that a test reads. */
export function attributesOf(test: Test): readonly string[] {
  switch (test.kind) {
    case "attribute":
      return [test.name];
    case "rule":
      return [...test.rule.parameters.keys()];
    case "direct":
    case "self":
      return [];
  }
}

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
    | typeof tooLarge;
}

/** What is said of a search that passes the bounds of `planMax`. */
export const tooLarge = "it has too many alternatives";

/**
 * What cannot be one search: the facts that the network reaches from the root are gathered, and it is
 * solved over them as a fixpoint.
 */
export interface GatherPlan extends AskedNetwork {
  readonly kind: "gather";
  readonly reasons: readonly GatherReason[];
}
