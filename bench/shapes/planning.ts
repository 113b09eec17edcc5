import { must } from "../../src/base/assert.ts";
import type { Database } from "../../src/store/postgres/connect/database.ts";
import { numberOf } from "../../src/store/postgres/connect/row.ts";
import type { QuestionClass } from "../../test/data/dataset.ts";
import { connectSingle } from "./single-connection.ts";

export interface PlanningResult {
  readonly checks: number;
  /** Prepared statements that the checks needed in all. */
  readonly statements: number;
  readonly customPlans: number;
  readonly genericRuns: number;
}

/**
 * Asks every class of questions twice on one connection and has the server tell what the second
 * round cost it in planning: a connection knows that only of itself.
 */
export async function measurePlanning(
  url: string,
  classes: readonly QuestionClass[],
): Promise<PlanningResult> {
  const { database, ask } = await connectSingle(url);
  try {
    const questions = classes.flatMap((each) => each.questions);
    await ask(questions);
    const before = await plansOf(database);
    await ask(questions);
    const after = await plansOf(database);
    return {
      checks: questions.length,
      statements: after.statements,
      customPlans: after.customPlans - before.customPlans,
      genericRuns: after.genericRuns - before.genericRuns,
    };
  } finally {
    await database.close();
  }
}

async function plansOf(database: Database): Promise<Omit<PlanningResult, "checks">> {
  const rows = await database.query(
    `select count(*)::integer as statements, coalesce(sum(custom_plans), 0)::integer as custom,
       coalesce(sum(generic_plans), 0)::integer as generic
     from pg_prepared_statements where statement not like '%pg_prepared_statements%'`,
    [],
  );
  const row = must(rows[0], "an aggregate has one row");
  return {
    statements: numberOf(row, "statements"),
    customPlans: numberOf(row, "custom"),
    genericRuns: numberOf(row, "generic"),
  };
}
