import { hash } from "node:crypto";

import { must } from "../../base/assert.ts";
import type { Schema } from "../../language/schema.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";
import type { SearchPlan } from "../../plan/plan.ts";
import type { StatementScope } from "../state/source.ts";
import { type Fragment, param, renderInside, sql } from "../text/fragment.ts";
import { dollarQuoted, quotedName, quotedText } from "../text/quote.ts";

/** A question whose functions are written, with its plans. */
export interface FunctionPlans {
  readonly plan: SearchPlan;
  readonly candidatePlan: CandidatePlan;
  readonly schema: Schema;
}

/** What functions are made with. All of it is part of their text, and so of their names. */
export interface FunctionFrame {
  /** Names of database schemas: of the plan functions, and of Pemba's tables. */
  readonly plans: string;
  readonly tables: string;
  /** The most hops of a path. */
  readonly depth: number;
  /** Settings of the server under which a function runs, in place of those of the application. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A sort of plan function: what it takes after the tenant's number, and what it returns. */
export interface FunctionKind {
  /** The beginning of its name. */
  readonly name: string;
  /** The types of its arguments after the tenant's number. In the text they are `argument(1)` ... */
  readonly arguments: readonly string[];
  readonly returns: string;
  /** How the planner of the calling statement takes it: `cost` or `rows`. */
  readonly estimate: string;
  /**
   * The query that it answers with: of one row and column for a kind that returns one value. Fails with
   * `Untranslatable` when the plans have no such query.
   */
  readonly query: (plans: FunctionPlans) => Fragment;
}

/** A plan function as the database gets it. */
export interface PlanFunction {
  readonly kind: string;
  /** Of the whole definition; with the kind it is the name of the function. */
  readonly hash: string;
  /** `create or replace function ...`, without a semicolon. */
  readonly definition: string;
  /** The function with its argument types, as `drop function` takes it. */
  readonly signature: string;
}

/** The scope of the query of a plan function. */
export const functionScope: StatementScope = {
  shape: { pinned: false, contextTuples: false, contextAttributes: false },
  tenant: param("tenant", "bigint"),
  changed: sql`false`,
};

/** An argument of a plan function; the tenant's number comes before the first one. */
export function argument(number: number): Fragment {
  return param(`argument_${number}`, "");
}

/** The plan function of a kind for a question. Fails with `Untranslatable` when there is none. */
export function planFunction(
  kind: FunctionKind,
  plans: FunctionPlans,
  frame: FunctionFrame,
): PlanFunction {
  const body = bodyOf(kind, renderQuery(kind.query(plans), frame), frame);
  const settings = Object.entries(frame.settings).map(
    ([name, value]) => `set ${name} to ${quotedText(value)}`,
  );
  const types = ["bigint", ...kind.arguments].join(", ");
  const definition = (name: string): string =>
    [
      `create or replace function ${name}(${types}) returns ${kind.returns}`,
      `language plpgsql stable parallel restricted ${kind.estimate}`,
      "set search_path to pg_catalog, pg_temp",
      ...settings,
      `as ${dollarQuoted(body, "plan")}`,
    ].join("\n");
  const digest = hash("sha256", definition(kind.name)).slice(0, 24);
  const name = `${quotedName(frame.plans)}.${quotedName(`${kind.name}_${digest}`)}`;
  return {
    kind: kind.name,
    hash: digest,
    definition: definition(name),
    signature: `${name}(${types})`,
  };
}

/** Names of arguments could be taken for columns, so arguments have numbers. */
function renderQuery(query: Fragment, { depth, tables }: FunctionFrame): string {
  return renderInside(
    query,
    (key) => {
      if (key === "tenant") return "$1";
      if (key === "depth") return String(depth);
      if (key === "data") return contextVariable;
      const [, number] = /^argument_(\d+)$/.exec(key) ?? [];
      return `$${Number(must(number, `a plan function has no parameter ${key}`)) + 1}`;
    },
    (table) => `${quotedName(tables)}.${quotedName(table)}`,
  );
}

const contextVariable = "context_data";

function bodyOf(kind: FunctionKind, query: string, { plans }: FunctionFrame): string {
  const isSet = kind.returns.startsWith("table");
  return [
    "#variable_conflict use_column",
    ...(query.includes(contextVariable)
      ? ["declare", `  ${contextVariable} jsonb := ${quotedName(plans)}.context_data();`]
      : []),
    "begin",
    isSet ? `  return query ${query};` : `  return (${query});`,
    "end",
  ].join("\n");
}
