import { lintSchemaText } from "../../authoring/lint/lint.ts";
import { PembaError } from "../../base/error.ts";
import { compileSchemaText } from "../../language/compile.ts";
import { printExpression } from "../../language/print.ts";
import type { EntityDefinition, Schema } from "../../language/schema.ts";

/** A fault or a doubt about a schema, with its place. Lines and columns count from 1. */
export interface SchemaFinding {
  readonly severity: "error" | "warning" | "note";
  readonly line: number;
  readonly column: number;
  /** Undefined: to the end of the word. */
  readonly endColumn: number | undefined;
  readonly message: string;
  /** The code of lint, or "" for a fault. */
  readonly code: string;
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

export interface SchemaOutline {
  readonly types: readonly OutlinedType[];
  readonly rules: readonly string[];
}

export interface Inspected {
  readonly findings: readonly SchemaFinding[];
  /** Undefined if the text is no schema. */
  readonly outline: SchemaOutline | undefined;
}

/** Finds the faults of a schema, or, if it has none, what lint says and its names. */
export function inspectSchema(text: string): Inspected {
  try {
    const schema = compileSchemaText(text);
    const findings = lintSchemaText(text).map(
      ({ code, severity, position, endColumn, message }): SchemaFinding => ({
        code,
        severity,
        line: position.line,
        column: position.column,
        endColumn,
        message,
      }),
    );
    return { findings, outline: outlineOf(schema) };
  } catch (error) {
    if (!(error instanceof PembaError) || error.details.length === 0) throw error;
    const findings = error.details.map(({ line, column, message }): SchemaFinding => ({
      severity: "error",
      line: line ?? 1,
      column: column ?? 1,
      endColumn: undefined,
      message,
      code: "",
    }));
    return { findings, outline: undefined };
  }
}

function outlineOf({ entities, rules }: Schema): SchemaOutline {
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
