import type { Schema } from "../../language/schema.ts";
import { planOf } from "../../plan/build.ts";
import type { Plan } from "../../plan/plan.ts";
import { printPlan } from "../../plan/print-plan.ts";
import type { Question } from "../../plan/question.ts";
import { checkStatement } from "../../sql/check.ts";
import { askedAlone, plainShape } from "../../sql/push-down.ts";
import { formatStatement } from "../../sql/text/format-statement.ts";
import type { Statement } from "../../sql/text/fragment.ts";

/** How a single check at the newest state is answered. */
export interface PrintedCheck {
  readonly plan: Plan;
  readonly isPushedDown: boolean;
  /** The reason why a search is not pushed down. Other plans report their reasons themselves. */
  readonly obstacle: string | undefined;
  readonly statement: Statement;
}

/**
 * Plans a check. Fails as `planOf` does if the question names what the schema does not have; `nameOf`
 * says how the error names a field of the question.
 */
export function planCheck(
  schema: Schema,
  question: Question,
  nameOf: (field: string) => string = (field) => field,
): PrintedCheck {
  const plan = planOf(schema, question, nameOf);
  const { body, obstacle } = askedAlone(plan);
  return {
    plan,
    isPushedDown: body.kind === "search",
    obstacle,
    statement: checkStatement([body], plainShape),
  };
}

/** Prints the plan, how it is run, the parameters of the statement, and the statement. */
export function printCheck({ plan, isPushedDown, obstacle, statement }: PrintedCheck): string {
  const why = obstacle === undefined ? "" : `, since there is no SQL for ${obstacle}`;
  const execution = isPushedDown
    ? "pushed down: the statement has the answer"
    : `gathered${why}: the statement reads the facts, and the server computes the answer from them`;
  return [
    printPlan(plan),
    execution,
    ...statement.params.map((name, index) => `$${index + 1}: ${name}`),
    "",
    formatStatement(statement.text).trimEnd(),
  ].join("\n");
}
