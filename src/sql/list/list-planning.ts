import { quotedName, quotedText } from "../text/quote.ts";
import { directionOf, type OrderColumn } from "./list-order.ts";

/** The name under which `conditionText` prepares a statement. */
export const conditionName = "pemba_condition";

/** The name under which `queryTexts` prepare a statement. */
const queryName = "pemba_list";

/** Sets, for a transaction, what the statements of a list are planned under. */
export function planningText(settings: Readonly<Record<string, string>>): string {
  return [
    "set local search_path to pg_catalog, pg_temp",
    ...Object.entries(settings).map(([name, value]) => `set local ${name} to ${quotedText(value)}`),
  ].join("; ");
}

/** Prepares a condition on the rows of a table; the server finds out the type of an `unknown` parameter. */
export function conditionText(from: string, where: string, types: readonly string[]): string {
  return `prepare ${conditionName} (${types.join(", ")}) as select from ${from} where ${where}`;
}

/** Statements that show the plan of a query for any values of its parameters, in their order. */
export function queryTexts(
  query: string,
  types: readonly string[],
): { readonly prepare: string; readonly explain: string; readonly end: string } {
  return {
    prepare: `prepare ${queryName} (${types.join(", ")}) as ${query}`,
    explain: `explain (format json) execute ${queryName} (${types.map(() => "null").join(", ")})`,
    end: `deallocate ${queryName}`,
  };
}

/** What makes an index in an order. */
export function indexText(from: string, order: readonly OrderColumn[]): string {
  const columns = order.map((each) => `${quotedName(each.name)}${directionOf(each)}`);
  return `create index on ${from} (${columns.join(", ")})`;
}

/** Drops an earlier function, whose arguments are as `pg_get_function_identity_arguments` has them. */
export function dropText(entry: string, name: string, functionArguments: string): string {
  return `drop function if exists ${quotedName(entry)}.${quotedName(name)}(${functionArguments})`;
}
