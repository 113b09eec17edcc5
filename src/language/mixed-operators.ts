import { operationsOf, permissionsOf } from "./operand.ts";
import type { SchemaTree } from "./tree.ts";
import type { Warning } from "./warning.ts";

/** Different operators in a row: many readers expect `and` to bind closer than `or`. */
export function* warnOfMixedOperators(tree: SchemaTree): Generator<Warning> {
  for (const { permission } of permissionsOf(tree)) {
    for (const { kind, left, position } of operationsOf(permission.expression)) {
      if (!("grouped" in left) || left.grouped || left.kind === kind) continue;
      yield {
        position,
        message: `\`${kind}\` after \`${left.kind}\` applies to everything before it, since operators are read from the left: parentheses would say so`,
      };
    }
  }
}
