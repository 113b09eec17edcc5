import { must } from "../../../base/assert.ts";
import { PembaError } from "../../../base/error.ts";
import { openRoute } from "../connect/connection-route.ts";
import type { Connection } from "../connect/connection.ts";
import { booleanOf, numberOf, optionalTextOf, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { filled, type InterfaceNames, planSchemaOf } from "./interface-names.ts";
import type { SqlInterfaceOptions } from "./interface-options.ts";
import { boundObjects, dropFiles, objectFiles, subjectFiles } from "./objects.ts";

/**
 * Counts the releases of what is in the database: to be raised whenever an object of `sql/interface` or
 * the text of plan functions changes. Then the start makes everything anew.
 */
export const interfaceVersion = 15;

/** What is in a database. */
export interface InterfaceState {
  readonly names: InterfaceNames;
  /** Undefined when it is not installed. */
  readonly installed: { readonly version: number; readonly settings: string } | undefined;
  /** The role may make plan functions. */
  readonly mayCreate: boolean;
  readonly role: string;
  /** The schema of the interface that has objects of others. */
  readonly takenSchema: string | undefined;
}

const stateStatement = statementFile("interface/state.sql");
const installationFile = statementFile("interface/read-installation.sql");
const lockFile = statementFile("interface/lock.sql");
const recordFile = statementFile("interface/record.sql");

const connectTimeoutMs = 30_000;

/**
 * Reads what is in the database of the URI. Fails with MIGRATION when it has no tables of Pemba, or when
 * a schema of the interface belongs to a role that Pemba cannot trust.
 */
export async function readInterface(url: string, schema: string): Promise<InterfaceState> {
  return await onConnection(url, async (connection) => await stateOf(connection, schema));
}

/**
 * Installs the SQL interface, or makes its objects anew where they are of an older release or were made
 * with other options. Those of a newer release stay. Returns whether anything changed. Fails with
 * MIGRATION, and changes nothing then.
 */
export async function installInterface(
  url: string,
  options: SqlInterfaceOptions,
): Promise<boolean> {
  return await onConnection(url, async (connection) => {
    const before = await stateOf(connection, options.schema);
    if (isCurrent(before, options)) return false;
    const { names, takenSchema } = before;
    refuseNames(names, takenSchema);
    return await inTransaction(connection, names, async () => {
      // Another session may have installed it during the wait for the lock.
      const state = await stateOf(connection, options.schema);
      if (isCurrent(state, options)) return false;
      await connection.script(statementsOf(objectTexts(names, options)));
      const record = filled(recordFile, { ...names });
      await connection.run(record, [interfaceVersion, settingsOf(options)]);
      return true;
    });
  });
}

/**
 * Drops the SQL interface: first what applications call, then the plan functions by `removeFunctions`,
 * then the rest. Returns false when there is none. Fails with MIGRATION, and changes nothing, when
 * something of others uses a function.
 */
export async function dropInterface(
  url: string,
  schema: string,
  removeFunctions: () => Promise<void>,
): Promise<boolean> {
  return await onConnection(url, async (connection) => {
    const { names, installed } = await stateOf(connection, schema);
    if (installed === undefined) return false;
    const drop = async (files: readonly string[]): Promise<void> =>
      await inTransaction(connection, names, async () => {
        await connection.script(statementsOf(files.map((file) => filled(file, { ...names }))));
      });
    await drop(dropFiles.entry);
    // A transaction that dropped all functions at once could need more locks than the server has.
    await removeFunctions();
    await drop(dropFiles.rest);
    return true;
  });
}

/** Whether the objects are there as this release and these options have them, or of a newer release. */
function isCurrent({ installed }: InterfaceState, options: SqlInterfaceOptions): boolean {
  if (installed === undefined) return false;
  if (installed.version !== interfaceVersion) return installed.version > interfaceVersion;
  return installed.settings === settingsOf(options);
}

/**
 * What is amiss with the objects, such as "is not installed". Undefined when they are as this release
 * and these options have them, or of a newer release.
 */
export function stalenessOf(
  state: InterfaceState,
  options: SqlInterfaceOptions,
): string | undefined {
  if (state.installed === undefined) return "is not installed";
  if (isCurrent(state, options)) return undefined;
  return "was installed by an older release or with other options";
}

async function stateOf(connection: Connection, schema: string): Promise<InterfaceState> {
  const plans = planSchemaOf(schema);
  const [row] = await connection.run(stateStatement, [schema, plans]);
  if (row === undefined) {
    throw new PembaError(
      "MIGRATION",
      "the database has no tables of Pemba: run `pemba migrate up`",
    );
  }
  const foreign = optionalTextOf(row, "foreign_schema");
  if (foreign !== undefined) {
    // Its owner could put there what then runs with the rights of Pemba.
    throw new PembaError(
      "MIGRATION",
      `\`database.sql.schema\`: the schema \`${foreign}\` belongs to another role, expected this role or the owner of Pemba's tables`,
    );
  }
  const names = { entry: schema, plans, tables: textOf(row, "tables") };
  const [made] = booleanOf(row, "is_installed")
    ? await connection.run(filled(installationFile, { ...names }))
    : [];
  return {
    names,
    installed: made && {
      version: numberOf(made, "version"),
      settings: optionalTextOf(made, "settings") ?? "",
    },
    mayCreate: booleanOf(row, "may_create"),
    role: textOf(row, "role"),
    takenSchema: optionalTextOf(row, "taken_schema"),
  };
}

function refuseNames(
  { entry, plans, tables }: InterfaceNames,
  takenSchema: string | undefined,
): void {
  if (tables === entry || tables === plans) {
    throw new PembaError(
      "MIGRATION",
      `\`database.sql.schema\`: the schema \`${tables}\` has Pemba's tables, expected another one`,
    );
  }
  if (takenSchema === undefined) return;
  throw new PembaError(
    "MIGRATION",
    `\`database.sql.schema\`: the schema \`${takenSchema}\` has objects of others, expected one that is empty or not there`,
  );
}

/** What the objects are made with, besides their names. */
function settingsOf({ subject, bound, visibleMax, depth }: SqlInterfaceOptions): string {
  return JSON.stringify({ subject, bound, visibleMax, depth });
}

function objectTexts(names: InterfaceNames, options: SqlInterfaceOptions): readonly string[] {
  const { subject, bound, visibleMax, depth } = options;
  const values = {
    ...names,
    subject: subject.kind === "setting" ? subject.name : subject.claim,
    visible_max: String(visibleMax),
    depth: String(depth),
  };
  const files = [
    ...objectFiles.before,
    subjectFiles[subject.kind],
    ...objectFiles.after,
    ...(bound ? boundObjects.make : boundObjects.drop),
  ];
  return files.map((file) => filled(file, values));
}

function statementsOf(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n;\n`).join("");
}

async function inTransaction<T>(
  connection: Connection,
  names: InterfaceNames,
  work: () => Promise<T>,
): Promise<T> {
  try {
    await connection.run("begin");
    await connection.run(filled(lockFile, { ...names }));
    const result = await work();
    await connection.run("commit");
    return result;
  } catch (error) {
    throw failed(error);
  }
}

/** What the server says of its objects and rights is for the operator. */
function failed(error: unknown): unknown {
  if (!(error instanceof PembaError) || error.code !== "INTERNAL") return error;
  const { cause } = error;
  const reason = must(cause instanceof Error ? cause.message : String(cause), "it has a cause");
  return new PembaError(
    "MIGRATION",
    `changing the objects of the SQL interface failed and changed none of them: ${reason}`,
    { cause },
  );
}

async function onConnection<T>(
  url: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { first: connection } = await openRoute({
    url,
    timeoutMs: connectTimeoutMs,
    warn: () => {},
  });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
