import { must } from "../src/base/assert.ts";
import { CompiledSchemas } from "../src/store/compiled-schemas.ts";
import { PostgresPermissions } from "../src/store/postgres/checks/check.ts";
import { Database } from "../src/store/postgres/connect/database.ts";
import { numberOf } from "../src/store/postgres/connect/row.ts";
import { readsOf } from "../src/store/postgres/replicas/reads.ts";
import { readSchema } from "../src/store/postgres/schemas.ts";
import { SnapTokens } from "../src/store/postgres/token/snap-token.ts";
import type { QuestionClass } from "./data/dataset.ts";
import { askEach } from "./measure.ts";
import { checkThrough, poolOf } from "./store.ts";

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
  const database = await Database.connect({ url, pool: poolOf(1), warn: () => {} });
  try {
    const permissions = new PostgresPermissions({
      reads: readsOf(database),
      schemas: new CompiledSchemas((tenant, version) => readSchema(database, tenant, version), {
        maxBytes: 10 << 20,
      }),
      tokens: await SnapTokens.load(database),
    });
    const questions = classes.flatMap((each) => each.questions);
    const ask = () => askEach((question) => checkThrough({ permissions }, question), questions);
    await ask();
    const before = await plansOf(database);
    await ask();
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
