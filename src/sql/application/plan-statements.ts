import type { PlanFunction } from "../function/plan-function.ts";
import { quotedName, quotedText } from "../text/quote.ts";

/**
 * The statements, without semicolons, that make plan functions and note them in the catalog.
 *
 * @param plans the database schema of plan functions
 */
export function planStatements(
  plans: string,
  functions: readonly PlanFunction[],
): readonly string[] {
  return functions.flatMap(({ definition, hash, kind, signature }) => {
    const values = [hash, kind, signature].map(quotedText).join(", ");
    return [definition, `select ${quotedName(plans)}.keep_function(${values})`];
  });
}
