import { warnOfMixedOperators } from "./mixed-operators.ts";
import { warnOfNegatedRecursion } from "./negated-recursion.ts";
import type { SchemaTree } from "./tree.ts";
import type { Warning } from "./warning.ts";

/** What is legal but doubtful in a schema that compiles, in the order of the text. */
export function lintSchema(tree: SchemaTree): readonly Warning[] {
  return [...warnOfMixedOperators(tree), ...warnOfNegatedRecursion(tree)].sort(
    ({ position: one }, { position: other }) => one.line - other.line || one.column - other.column,
  );
}
