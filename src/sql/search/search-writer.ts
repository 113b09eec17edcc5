import { must } from "../../base/assert.ts";
import { exactStates } from "../../plan/exact.ts";
import type { SearchPlan } from "../../plan/plan.ts";
import type { StatementScope } from "../state/source.ts";
import { type Fragment, join, sql } from "../text/fragment.ts";
import { closureTables } from "./closure.ts";
import { guardVerdict } from "./search.ts";
import { stateHolds } from "./test.ts";
import { Untranslatable, type Writer } from "./writer.ts";

/**
 * A guard is written out wherever it is asked, so guards within guards multiply. A statement with
 * more guards than this takes longer to plan and to start than a gather takes.
 */
const guardBudget = 256;

/** What is said of a statement with more. */
export const tooManyGuards = "it has too many guards within guards";

/** The cost of a guard with a search of its own, in guards that are one probe. */
const searchCost = 8;

/**
 * What writes the searches of one plan for one subject. Fails with `Untranslatable` when guards
 * within guards make too many of them.
 */
export function searchWriter(scope: StatementScope, plan: SearchPlan, subject: Fragment): Writer {
  let searches = 0;
  let spent = 0;
  const spend = (cost: number): void => {
    spent += cost;
    if (spent > guardBudget) throw new Untranslatable(tooManyGuards);
  };
  const state = (number: number) => must(plan.states[number], "a guard has a state");
  const writer: Writer = {
    scope,
    plan,
    exact: exactStates(plan),
    subjectId: subject,
    usersets: "of subject",
    number: () => searches++,
    judge: (number, at) => {
      spend(searchCost);
      return guardVerdict(writer, state(number), at);
    },
    holds: (number, at) => {
      spend(1);
      return stateHolds(writer, state(number), at);
    },
  };
  return writer;
}

/** The `with` that the searches of a plan for a subject need around them. */
export function withClosure(scope: StatementScope, plan: SearchPlan, subject: Fragment): Fragment {
  if (plan.usersets.length === 0) return sql``;
  return sql`with recursive ${join(closureTables(scope, plan, { id: subject }), ", ")}`;
}
