import { hash } from "node:crypto";

import { must } from "../../../base/assert.ts";
import { presentCaller } from "../../../base/caller.ts";
import { type ErrorKind, PembaError } from "../../../base/error.ts";
import type { FunctionFrame } from "../../../sql/function/plan-function.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import type { Database } from "../connect/database.ts";
import { booleanOf, numberOf, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { arrayLiteral, type ParameterValue } from "../connect/value.ts";
import { functionSettings } from "./function-settings.ts";
import { type ChosenHeads, readHeads, type SyncedHeads, type UnsyncedHead } from "./heads.ts";
import { interfaceVersion } from "./install.ts";
import { filled, type InterfaceNames } from "./interface-names.ts";
import type { SqlInterfaceOptions } from "./interface-options.ts";
import {
  functionsTexts,
  type PlannedQuestions,
  planQuestions,
  questionsText,
} from "./planned-questions.ts";

const files = {
  findMissing: statementFile("interface/find-missing.sql"),
  writeSchema: statementFile("interface/write-schema.sql"),
  syncVersion: statementFile("interface/sync-version.sql"),
  heads: statementFile("interface/heads.sql"),
  makeMissing: statementFile("interface/make-missing.sql"),
  removeVersions: statementFile("interface/remove-versions.sql"),
  removeFunctions: statementFile("interface/remove-functions.sql"),
  removeTenants: statementFile("interface/remove-tenants.sql"),
  forgetQuestions: statementFile("interface/forget-questions.sql"),
} as const;

/** A removal may take functions away between the look for missing ones and the write. */
const attemptsMax = 10;

const versionsPerBatch = 1_000;
/** A transaction holds a lock for each function that it drops. */
const functionsPerBatch = 100;

/** Errors that a schema is to blame for, and not the database. */
const ofOneHead: ReadonlySet<ErrorKind> = new Set([
  "invalid_argument",
  "failed_precondition",
  "internal",
]);

/** What a schema write needs besides the version itself. */
interface SyncValues {
  readonly questions: string;
  readonly names: string;
  readonly hashes: string;
  readonly functions: string;
}

/** Keeps what applications can ask in SQL in step with the schemas of a database. */
export class SqlInterface {
  readonly #database: Database;
  readonly #schemas: CompiledSchemas;
  readonly #options: SqlInterfaceOptions;
  readonly #frame: FunctionFrame;
  readonly #statements: Readonly<Record<keyof typeof files, string>>;
  readonly names: InterfaceNames;
  /** Of what functions and questions are made with. A head with another one was not synced with this. */
  readonly fingerprint: string;

  constructor(
    parts: { readonly database: Database; readonly schemas: CompiledSchemas },
    names: InterfaceNames,
    options: SqlInterfaceOptions,
  ) {
    const { plans, tables } = names;
    const { depth, questions } = options;
    this.names = names;
    this.#database = parts.database;
    this.#schemas = parts.schemas;
    this.#options = options;
    this.#frame = { plans, tables, depth, settings: functionSettings };
    const fill = (file: keyof typeof files): string => filled(files[file], { ...names });
    this.#statements = {
      findMissing: fill("findMissing"),
      writeSchema: fill("writeSchema"),
      syncVersion: fill("syncVersion"),
      heads: fill("heads"),
      makeMissing: fill("makeMissing"),
      removeVersions: fill("removeVersions"),
      removeFunctions: fill("removeFunctions"),
      removeTenants: fill("removeTenants"),
      forgetQuestions: fill("forgetQuestions"),
    };
    const made = JSON.stringify([interfaceVersion, this.#frame, questions]);
    this.fingerprint = hash("sha256", made);
  }

  /**
   * Writes a schema version with the statement of a schema write, its questions and its functions, in
   * one transaction. Values are those of `schemas/write.sql`. Fails with INVALID_ARGUMENT when the
   * schema has too many questions, and with MIGRATION when functions are missing that only a command
   * makes.
   */
  async writeSchema(text: string, values: readonly ParameterValue[]): Promise<Row> {
    const planned = await this.planned(text);
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const sync = await this.#valuesOf(planned, this.#options.sync === "write");
      const [row] = await this.#database.write(this.#statements.writeSchema, [
        ...values,
        this.fingerprint,
        sync.questions,
        sync.names,
        sync.hashes,
        sync.functions,
      ]);
      const result = must(row, "the function returns one row");
      if (textOf(result, "outcome") !== "missing_functions") return result;
      if (this.#options.sync === "command") throw lacksFunctions();
    }
    throw new PembaError("SERIALIZATION", "functions of the schema were removed each time, retry");
  }

  /** The questions of a schema text, and their functions. Fails as compiling and planning do. */
  async planned(text: string): Promise<PlannedQuestions> {
    const signal = presentCaller()?.signal;
    const compiled = await this.#schemas.compileText(text);
    const { planner } = this.#schemas;
    const planning = { planner, patterns: this.#options.questions, frame: this.#frame };
    return await planQuestions(planning, compiled, signal);
  }

  /**
   * Makes the functions and questions of those heads that lack them. Functions are made only where
   * `mayMake`. Returns what could not be synced, and how many heads were.
   */
  async syncHeads({
    mayMake,
    ...chosen
  }: ChosenHeads & { readonly mayMake: boolean }): Promise<SyncedHeads> {
    const unsynced: UnsyncedHead[] = [];
    const absent = new Set(chosen.tenants);
    let synced = 0;
    for await (const row of this.#heads(chosen)) {
      absent.delete(textOf(row, "id"));
      const error = await this.#syncHead(row, mayMake);
      if (error === undefined) synced += 1;
      else unsynced.push({ tenant: textOf(row, "id"), error });
    }
    return { synced, unsynced, absent: [...absent] };
  }

  /** What `syncHeads` would do, and how many functions it would make. */
  async previewHeads(chosen: ChosenHeads): Promise<SyncedHeads & { readonly functions: number }> {
    const missing = new Set<string>();
    const unsynced: UnsyncedHead[] = [];
    const absent = new Set(chosen.tenants);
    let synced = 0;
    for await (const row of this.#heads(chosen)) {
      absent.delete(textOf(row, "id"));
      try {
        for (const one of await this.missingFunctions(textOf(row, "text"))) missing.add(one);
        synced += 1;
      } catch (error) {
        unsynced.push({ tenant: textOf(row, "id"), error: refusalOf(error) });
      }
    }
    return { synced, unsynced, absent: [...absent], functions: missing.size };
  }

  /** The hashes of functions that a text needs and that are missing. */
  async missingFunctions(text: string): Promise<readonly string[]> {
    const { functions } = await this.planned(text);
    return await this.#missing([...functions.keys()]);
  }

  /** Makes the functions of a text that is no schema yet. Returns how many were missing. */
  async makeFunctions(text: string): Promise<number> {
    const { functions } = await this.planned(text);
    const missing = await this.#missing([...functions.keys()]);
    await this.#make(await functionsTexts(functions, missing, presentCaller()?.signal));
    return missing.length;
  }

  /** Makes functions, each list in a transaction of its own. */
  async #make(lists: readonly string[]): Promise<void> {
    for (const list of lists) await this.#database.write(this.#statements.makeMissing, [list]);
  }

  /**
   * Removes what belongs to versions that were no head for so many milliseconds, and functions that
   * nothing leads to. Returns how many functions were removed.
   */
  async removeUnused(windowMs: number, signal?: AbortSignal): Promise<number> {
    await this.#inBatches(this.#statements.removeVersions, windowMs, versionsPerBatch, signal);
    return await this.#removeFunctions(windowMs, signal);
  }

  /** Removes all that can be asked, and all functions of this role, in batches. */
  async removeAll(): Promise<void> {
    await this.#database.query(this.#statements.forgetQuestions, []);
    await this.#removeFunctions(0, undefined);
  }

  /** Removes what can be asked of deleted tenants, given by the text of an array of their numbers. */
  async removeTenants(numbers: string): Promise<void> {
    await this.#database.query(this.#statements.removeTenants, [numbers]);
  }

  async #removeFunctions(windowMs: number, signal: AbortSignal | undefined): Promise<number> {
    const { removeFunctions } = this.#statements;
    return await this.#inBatches(removeFunctions, windowMs, functionsPerBatch, signal);
  }

  /** Runs a statement until it finds fewer than `most`. Returns how many it found. */
  async #inBatches(
    statement: string,
    windowMs: number,
    most: number,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let total = 0;
    for (;;) {
      const [row] = await this.#database.query(statement, [windowMs, most], signal);
      const removed = numberOf(must(row, "it has one row"), "removed");
      total += removed;
      if (removed < most) return total;
    }
  }

  #heads({ all, tenants }: ChosenHeads): AsyncIterable<Row> {
    const fingerprint = all ? undefined : this.fingerprint;
    return readHeads(this.#database, this.#statements.heads, { fingerprint, tenants });
  }

  /** Returns why it could not be synced. Fails when the database does not answer. */
  async #syncHead(row: Row, mayMake: boolean): Promise<PembaError | undefined> {
    try {
      const planned = await this.planned(textOf(row, "text"));
      for (let attempt = 1; attempt <= attemptsMax; attempt++) {
        const sync = await this.#valuesOf(planned, mayMake);
        const [result] = await this.#database.write(this.#statements.syncVersion, [
          textOf(row, "number"),
          textOf(row, "version"),
          this.fingerprint,
          sync.questions,
          sync.names,
          sync.hashes,
          sync.functions,
        ]);
        if (booleanOf(must(result, "the function returns one row"), "is_done")) return undefined;
        if (!mayMake) break;
      }
      return lacksFunctions();
    } catch (error) {
      return refusalOf(error);
    }
  }

  /**
   * Only the definitions of missing functions are sent: they are long. If they are too long for one
   * statement, most are made here: a function answers nothing before a question leads to it.
   */
  async #valuesOf(
    { questions, names, functions }: PlannedQuestions,
    mayMake: boolean,
  ): Promise<SyncValues> {
    const hashes = [...functions.keys()];
    const missing = mayMake ? await this.#missing(hashes) : [];
    const signal = presentCaller()?.signal;
    const [last, ...before] = await functionsTexts(functions, missing, signal);
    await this.#make(before);
    return {
      questions: questionsText(questions),
      names,
      hashes: arrayLiteral(hashes),
      functions: last,
    };
  }

  async #missing(hashes: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.read(this.#statements.findMissing, [
      arrayLiteral([...hashes]),
    ]);
    return rows.map((row) => textOf(row, "hash"));
  }
}

/** The error, if it is of one head. Fails with any other one. */
function refusalOf(error: unknown): PembaError {
  // A schema that has no SQL is no reason for the others to go without.
  if (error instanceof PembaError && ofOneHead.has(error.kind)) return error;
  throw error;
}

function lacksFunctions(): PembaError {
  return new PembaError(
    "MIGRATION",
    "the SQL interface lacks plan functions of this schema: run `pemba sql sync` with the schema first (`database.sql.sync` is `command`)",
  );
}
