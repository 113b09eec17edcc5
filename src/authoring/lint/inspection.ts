import type { Schema } from "../../language/schema.ts";
import type { SchemaScope } from "../../language/scope.ts";
import type { Position } from "../../language/source.ts";
import type { SchemaTree } from "../../language/tree.ts";
import type { Network } from "../../plan/network.ts";
import type { Survey } from "./survey.ts";

/**
 * How bad a finding is: an `error` is a mistake, a `warning` is a doubt, and a `note` is good to know.
 */
export type Severity = "error" | "warning" | "note";

/** What an inspection reads: a schema that compiles, and what is made of it. */
export interface LintedSchema {
  readonly tree: SchemaTree;
  readonly scope: SchemaScope;
  readonly schema: Schema;
  readonly network: Network;
  readonly survey: Survey;
}

/** A place in the schema, which begins a word there, and what an inspection says of it. */
export interface LintPlace {
  readonly position: Position;
  readonly message: string;
}

/** One thing to look for in a schema. */
export interface Inspection {
  /** Its name in reports and in comments that silence it; also its section in docs/lint.md. */
  readonly code: string;
  readonly severity: Severity;
  /** Lists the places, in any order. */
  readonly find: (linted: LintedSchema) => Iterable<LintPlace>;
}
