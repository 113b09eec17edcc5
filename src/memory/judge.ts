import { unreachable } from "../base/assert.ts";
import type { Pace, Steps } from "../base/steps.ts";
import type { AttributeType, AttributeValue, Entity, JsonValue, Subject } from "../base/tuple.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../base/verdict.ts";
import { defaultValue } from "../condition/defaults.ts";
import type { RuleDefinition } from "../language/schema.ts";
import type { Test } from "../plan/plan.ts";
import type { Facts } from "./facts.ts";
import type { GroundBudget } from "./ground-budget.ts";

/** Why a test could not be judged. */
export interface TestFault {
  readonly code: "RULE_EVALUATION" | "ATTRIBUTE_TYPE_MISMATCH";
  readonly message: string;
}

/** What an evaluation reads besides the plan. */
export interface EvaluationInput {
  readonly facts: Facts;
  readonly entityId: string;
  readonly subject: Subject;
  /** Most hops of a path that may decide the answer. */
  readonly depth: number;
  readonly data: { readonly [key: string]: JsonValue };
  readonly budget: GroundBudget;
  /** Of all its work. */
  readonly pace: Pace;
  /** Is called with the reason when a test cannot be judged. */
  readonly onFault: (fault: TestFault) => void;
}

/** A test of the entity alone, which accepts every subject or none. */
export type ValueTest = Extract<Test, { readonly kind: "attribute" | "rule" }>;

/** A test that takes one look at the facts. */
export type QuickTest = Exclude<Test, { readonly kind: "rule" }>;

/** The verdict of a test at an entity, without regard to the depth. */
export function* judgeTest(
  test: Test,
  entity: Entity,
  asked: ValueInput & Pick<EvaluationInput, "subject">,
): Steps<Verdict> {
  return test.kind === "rule"
    ? yield* judgeRule(test.rule, entity, asked)
    : judgeQuickTest(test, entity, asked);
}

/** As `judgeTest`. */
export function judgeQuickTest(
  test: QuickTest,
  entity: Entity,
  asked: Pick<EvaluationInput, "facts" | "onFault" | "subject">,
): Verdict {
  switch (test.kind) {
    case "self":
      return entity.id === asked.subject.id ? ALLOWED : DENIED;
    case "direct":
      return asked.facts.hasTuple(entity, test.relations, asked.subject) ? ALLOWED : DENIED;
    case "attribute":
      return judgeAttribute(test.name, entity, asked);
    default:
      return unreachable(test);
  }
}

/** The verdict of such a test, which is the same for all subjects. */
export function* judgeValue(test: ValueTest, entity: Entity, asked: ValueInput): Steps<Verdict> {
  return test.kind === "attribute"
    ? judgeAttribute(test.name, entity, asked)
    : yield* judgeRule(test.rule, entity, asked);
}

type ValueInput = Pick<EvaluationInput, "facts" | "data" | "pace" | "onFault">;

function judgeAttribute(
  name: string,
  entity: Entity,
  asked: Pick<EvaluationInput, "facts" | "onFault">,
): Verdict {
  const value = asked.facts.attribute(entity, name);
  if (value === undefined) return DENIED;
  if (value.type === "boolean") return value.data ? ALLOWED : DENIED;
  asked.onFault(mismatch(entity, name, value, "boolean"));
  return UNKNOWN;
}

function* judgeRule(rule: RuleDefinition, entity: Entity, asked: ValueInput): Steps<Verdict> {
  const parameters = new Map<string, AttributeValue>();
  for (const [name, type] of rule.parameters) {
    const value = asked.facts.attribute(entity, name) ?? defaultValue(type);
    if (value.type !== type) {
      asked.onFault(mismatch(entity, name, value, type));
      return UNKNOWN;
    }
    parameters.set(name, value);
  }
  const verdict = yield* rule.condition.evaluate({ parameters, data: asked.data }, asked.pace);
  if (verdict.kind === "value") return verdict.value ? ALLOWED : DENIED;
  asked.onFault({
    code: "RULE_EVALUATION",
    message: `rule \`${rule.name}\` at \`${entity.type}:${entity.id}\`: ${verdict.message}`,
  });
  return UNKNOWN;
}

/** Stored under an older schema, or given by a context: the schema in force has another type. */
function mismatch(
  entity: Entity,
  name: string,
  value: AttributeValue,
  expected: AttributeType,
): TestFault {
  return {
    code: "ATTRIBUTE_TYPE_MISMATCH",
    message: `the attribute \`${name}\` of \`${entity.type}:${entity.id}\` is stored as \`${value.type}\`, the schema has \`${expected}\``,
  };
}
