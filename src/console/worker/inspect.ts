import { PembaError } from "../../base/error.ts";
import { runThrough } from "../../base/steps.ts";
import { runInSlices } from "../../base/time-slice.ts";
import { actionsFor } from "../../editor/actions.ts";
import type { TextEdit } from "../../editor/edit.ts";
import { type EditorProblem, schemaProblems } from "../../editor/problems.ts";
import { compileSchemaText } from "../../language/compile.ts";
import { printExpression } from "../../language/print.ts";
import type { EntityDefinition, Schema } from "../../language/schema.ts";

/** A fault or a doubt about a schema, with what can be done about it. */
export interface SchemaFinding {
  readonly severity: EditorProblem["severity"];
  /** Offsets in the text, `end` exclusive. */
  readonly start: number;
  readonly end: number;
  readonly message: string;
  /** A code of errors or of lint. */
  readonly code: string;
  readonly mends: readonly PlacedMend[];
}

/** A change of the text that mends or silences a problem. */
export interface PlacedMend {
  readonly title: string;
  readonly edits: readonly TextEdit[];
}

export interface OutlinedRelation {
  readonly name: string;
  readonly subjects: readonly { readonly type: string; readonly relation: string }[];
}

/** The names of an entity type. */
export interface OutlinedType {
  readonly name: string;
  readonly relations: readonly OutlinedRelation[];
  readonly attributes: readonly { readonly name: string; readonly type: string }[];
  readonly permissions: readonly { readonly name: string; readonly expression: string }[];
}

/** The names of a schema that compiles. */
export interface SchemaOutline {
  readonly types: readonly OutlinedType[];
  readonly rules: readonly string[];
}

export interface Inspected {
  readonly findings: readonly SchemaFinding[];
  /** Undefined if the text is no schema. */
  readonly outline: SchemaOutline | undefined;
}

/** Mends are found for the first problems only: each of them parses the text again. */
const mendedMax = 20;

/**
 * Finds the faults of a schema, or, if it has none, what lint says and its names. In slices; fails with CANCELLED if
 * the signal aborts.
 */
export async function inspectSchema(text: string, signal: AbortSignal): Promise<Inspected> {
  const problems = await runInSlices(schemaProblems(text), signal);
  const findings = problems.map((problem, index): SchemaFinding => {
    const { severity, span, message, code } = problem;
    const actions = index < mendedMax ? runThrough(actionsFor(text, problem)) : [];
    const mends = actions.map(({ title, edits }) => ({ title, edits }));
    return { severity, start: span.start, end: span.end, message, code, mends };
  });
  return { findings, outline: outlineOf(text) };
}

function outlineOf(text: string): SchemaOutline | undefined {
  let schema: Schema;
  try {
    schema = compileSchemaText(text);
  } catch (error) {
    // The findings say why.
    if (error instanceof PembaError) return undefined;
    throw error;
  }
  const { entities, rules } = schema;
  return { types: [...entities.values()].map(outlinedType), rules: [...rules.keys()] };
}

function outlinedType({
  name,
  relations,
  attributes,
  permissions,
}: EntityDefinition): OutlinedType {
  return {
    name,
    relations: [...relations.values()].map((relation) => ({
      name: relation.name,
      subjects: relation.types,
    })),
    attributes: [...attributes].map(([attribute, type]) => ({ name: attribute, type })),
    permissions: [...permissions.values()].map((permission) => ({
      name: permission.name,
      expression: printExpression(permission.expression),
    })),
  };
}
