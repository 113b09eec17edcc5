import { PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import type { FlagKind } from "../config/flags.ts";
import type { Config } from "../config/options.ts";
import { complain, messageOf, say } from "./output.ts";

/** A database that a command works on. */
export interface CommandDatabase {
  /** The name of the cluster that it is of. Undefined if the configuration has one database. */
  readonly cluster: string | undefined;
  readonly url: string;
}

/** The flag that names one of several clusters. */
export const clusterFlag: ReadonlyMap<string, FlagKind> = new Map([["cluster", {}]]);

/** Help for a command that works on each database of the configuration. */
export const eachDatabaseHelp = `The database is that of the configuration: --database-uri, or a variable or file as for serve. If it has
several clusters (\`database.clusters\`), the command works on one after the other, and says on which ones it
failed. With --cluster NAME it works on that one alone.`;

/** Help for a command that works on one database. */
export const oneDatabaseHelp = `The database is that of the configuration: --database-uri, or a variable or file as for serve. If it has
several clusters (\`database.clusters\`), --cluster NAME says which one.`;

/** The URI of the one database of the configuration. Empty if there is none, or if there are clusters. */
export function writerUri(config: Config): string {
  return config["database.writer.uri"] === ""
    ? config["database.uri"]
    : config["database.writer.uri"];
}

/**
 * The databases of the configuration, or that of the cluster with the name. Fails with INVALID_ARGUMENT if
 * there are none, or no such cluster.
 *
 * @param values the flags of the command
 * @param purpose what the database is expected for, such as `the database to migrate`
 */
export function databasesOf(
  config: Config,
  values: ReadonlyMap<string, string>,
  purpose: string,
): readonly CommandDatabase[] {
  const name = values.get("cluster");
  const clusters = config["database.clusters"];
  const url = writerUri(config);
  if (clusters.length === 0) {
    if (name !== undefined) {
      throw invalid("--cluster: is given, expected none without `database.clusters`");
    }
    if (url === "") {
      const ways = "by --database-uri, SERVICE_DATABASE_URI or the file";
      throw invalid(`\`database.uri\`: is empty, expected the URI of ${purpose}, ${ways}`);
    }
    return [{ cluster: undefined, url }];
  }
  const all = clusters.map((cluster) => ({ cluster: cluster.name, url: cluster.uri }));
  const chosen = name === undefined ? all : all.filter(({ cluster }) => cluster === name);
  if (name !== undefined && chosen.length === 0) {
    throw invalid(`--cluster: ${quote(name)} is none of ${namesOf(all)}`);
  }
  return chosen;
}

/** The URI of one database, for a command that cannot work on several. Fails as `databasesOf` does. */
export function databaseOf(
  config: Config,
  values: ReadonlyMap<string, string>,
  purpose: string,
): string {
  const found = databasesOf(config, values, purpose);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.url;
  throw invalid(`--cluster: is missing, expected one of ${namesOf(found)}`);
}

/**
 * Does work on databases, one after the other. A failure does not keep the work from the others. Resolves
 * to an exit status: 1 if the work failed on one, or else the highest.
 */
export async function onEach(
  databases: readonly CommandDatabase[],
  work: (url: string) => Promise<number>,
): Promise<number> {
  const [only, ...others] = databases;
  if (only !== undefined && others.length === 0) return await work(only.url);
  const failed: CommandDatabase[] = [];
  let highest = 0;
  for (const database of databases) {
    say(`cluster ${database.cluster}:`);
    const status = await statusOn(database, work);
    if (status === 1) failed.push(database);
    highest = Math.max(highest, status);
  }
  return failed.length === 0 ? highest : complain(`failed on ${namesOf(failed)}`);
}

async function statusOn(
  { cluster, url }: CommandDatabase,
  work: (url: string) => Promise<number>,
): Promise<number> {
  try {
    return await work(url);
  } catch (error) {
    return complain(`cluster ${cluster}: ${messageOf(error)}`);
  }
}

function namesOf(databases: readonly CommandDatabase[]): string {
  return databases.map(({ cluster = "" }) => quote(cluster)).join(", ");
}

function invalid(message: string): PembaError {
  return new PembaError("INVALID_ARGUMENT", message);
}
