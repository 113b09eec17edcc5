import { assert } from "../../../base/assert.ts";
import type { Database } from "../connect/database.ts";
import { numberOf, onlyRow, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { ParameterValue } from "../connect/value.ts";
import { filled, type InterfaceNames } from "./interface-names.ts";

const functionsFile = statementFile("interface/status-functions.sql");
const headsFile = statementFile("interface/status-heads.sql");
const questionsFile = statementFile("interface/status-questions.sql");
const obstaclesFile = statementFile("interface/status-obstacles.sql");
const mapsFile = statementFile("interface/status-maps.sql");

/** How many of a kind are named. */
const namedMax = 50;

/** What is known of the questions, heads and functions of an installed SQL interface. */
export interface InterfaceReport {
  readonly functions: { readonly known: number; readonly unused: number; readonly lost: number };
  readonly heads: {
    readonly all: number;
    readonly unsynced: number;
    /** Tenants of the first unsynced ones. */
    readonly examples: readonly string[];
  };
  readonly questions: { readonly all: number; readonly obstructed: number };
  /** The first of the obstacles. */
  readonly obstacles: readonly {
    readonly entityType: string;
    readonly permission: string;
    readonly subjectType: string;
    readonly subjectRelation: string;
    readonly obstacle: string;
    readonly tenants: number;
  }[];
  readonly maps: readonly {
    readonly name: string;
    /** The name of the table. */
    readonly source: string;
    /** How many of its four triggers are there and enabled. */
    readonly triggers: number;
    /** What it derives and no head has. */
    readonly unknown: readonly string[];
  }[];
}

/** Reads the report. Heads are unsynced if they lack the fingerprint; undefined: if they lack any. */
export async function readReport(
  database: Database,
  names: InterfaceNames,
  fingerprint: string | undefined,
): Promise<InterfaceReport> {
  const read = async (file: string, values: readonly ParameterValue[]): Promise<readonly Row[]> =>
    await database.query(filled(file, { ...names }), values);
  const functions = onlyRow(await read(functionsFile, []));
  const heads = onlyRow(await read(headsFile, [fingerprint ?? null, namedMax]));
  const questions = onlyRow(await read(questionsFile, []));
  const obstacles = await read(obstaclesFile, [namedMax]);
  const maps = await read(mapsFile, []);
  return {
    functions: {
      known: numberOf(functions, "known"),
      unused: numberOf(functions, "unused"),
      lost: numberOf(functions, "lost"),
    },
    heads: {
      all: numberOf(heads, "heads"),
      unsynced: numberOf(heads, "unsynced"),
      examples: textsOf(heads, "examples"),
    },
    questions: {
      all: numberOf(questions, "questions"),
      obstructed: numberOf(questions, "obstructed"),
    },
    obstacles: obstacles.map((row) => ({
      entityType: textOf(row, "entity_type"),
      permission: textOf(row, "permission"),
      subjectType: textOf(row, "subject_type"),
      subjectRelation: textOf(row, "subject_relation"),
      obstacle: textOf(row, "obstacle"),
      tenants: numberOf(row, "tenants"),
    })),
    maps: maps.map((row) => ({
      name: textOf(row, "name"),
      source: textOf(row, "source"),
      triggers: numberOf(row, "triggers"),
      unknown: textsOf(row, "unknown"),
    })),
  };
}

function textsOf(row: Row, column: string): readonly string[] {
  const list: unknown = row[column];
  assert(Array.isArray(list), `column ${column} is not a list`);
  return list.map(String);
}
