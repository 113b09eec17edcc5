import type { Pace, Steps } from "../base/steps.ts";
import type { AttributeType, AttributeValue, JsonValue } from "../base/tuple.ts";
import type { ConditionTree } from "./tree.ts";

/** The body of a rule: CEL, parsed and type-checked against its parameters and `context`. */
export interface Condition {
  /** The text between the braces, verbatim. */
  readonly text: string;
  readonly parameters: ReadonlyMap<string, AttributeType>;
  /** The checked tree, in a form that does not expose the CEL library. */
  readonly tree: ConditionTree;
  /**
   * Never throws: a fault at run time (missing key, type clash, division by zero) is part of the
   * result. Long work yields as often as the pace says, which others may share.
   */
  evaluate(input: ConditionInput, pace: Pace): Steps<ConditionVerdict>;
}

export interface ConditionInput {
  /** One value for each parameter: stored, contextual, or the default of its type. */
  readonly parameters: ReadonlyMap<string, AttributeValue>;
  /** The `context.data` of the request. */
  readonly data: { readonly [key: string]: JsonValue };
}

/** What to do about a key of `context.data` that a rule reads and a request lacks. */
export const sendData = "send it in `context.data`";

export type ConditionVerdict =
  | { readonly kind: "value"; readonly value: boolean }
  | { readonly kind: "fault"; readonly message: string };
