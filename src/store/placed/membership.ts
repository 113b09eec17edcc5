import { must } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import type { Database } from "../postgres/connect/database.ts";
import { onDatabase } from "../postgres/connect/on-database.ts";
import { booleanOf, textOf } from "../postgres/connect/row.ts";
import { statementFile } from "../postgres/connect/statement-file.ts";

const openStatement = statementFile("placement/open-directory.sql");
const readStatement = statementFile("placement/read-directory.sql");
const joinStatement = statementFile("placement/join-directory.sql");
const aloneStatement = statementFile("placement/alone.sql");
const dropExampleStatement = statementFile("placement/drop-example.sql");

/** What a database says of the directory that it belongs to. */
interface Membership {
  /** The id of the directory. */
  readonly id: string;
  /** The name of the cluster that the database is of. */
  readonly cluster: string;
  /** Whether the placements are in this database. */
  readonly isHere: boolean;
}

/** A cluster and its database. */
interface ClusterPlace {
  readonly name: string;
  readonly url: string;
}

/** A server that is there accepts a connection, or answers, in less, however busy it is. */
const answerTimeoutMs = 5_000;

/**
 * Makes a database that of the directory, if it is not yet. Resolves to the id of the directory. Fails
 * with INVALID_ARGUMENT if the database belongs to another one, whose placements this one does not have,
 * or is known by another name. The same if it belongs to none, and another cluster to one: a mistake in the
 * configuration must not make a second directory, which its database would keep.
 *
 * @param name the cluster of the database
 * @param others the other clusters of the configuration
 */
export async function openDirectory(
  database: Database,
  name: string,
  others: readonly ClusterPlace[],
): Promise<string> {
  if ((await membershipOf(database)) === undefined) {
    const taken = await firstOfDirectory(others);
    // Another instance may have made the directory meanwhile, and have had the others join it.
    if (taken !== undefined && (await membershipOf(database)) === undefined) {
      throw isSecond(name, taken);
    }
  }
  await database.write(openStatement, [name]);
  const { id, cluster, isHere } = must(await membershipOf(database), "it was inserted");
  if (!isHere) throw isElsewhere(name);
  refuseOtherName(name, cluster);
  return id;
}

/** What a database is to belong to. */
export interface Joining {
  /** The cluster of the database. */
  readonly name: string;
  /** The id of the directory. */
  readonly directory: string;
  /** How many tenants of the cluster the directory has. */
  readonly tenants: () => Promise<number>;
  /** The clusters whose databases are known, by their places. */
  readonly places: Map<string, string>;
}

/**
 * Has a database belong to a directory. Fails with INVALID_ARGUMENT if it belongs to another one, is the
 * directory's own, is known by another name, has tenants that no directory knows, or is a copy of the
 * database of another cluster. The same if it belongs to none, and the directory has tenants of its cluster:
 * then it is not the database that has them.
 */
export async function joinDirectory(
  database: Database,
  { name, directory, tenants, places }: Joining,
): Promise<void> {
  const { place } = database.greeting;
  const member = (await membershipOf(database)) ?? (await join(database));
  refuseStranger(member, { name, directory });
  notePlace();

  /**
   * Tokens name the place of their state. With one place for two databases, each would read the tokens of
   * the other as states of its own.
   */
  function notePlace(): void {
    const known = places.get(place);
    if (known !== undefined && known !== name) {
      throw refusal(
        "database.clusters",
        `the databases of ${quote(known)} and ${quote(name)} have one system identifier and number, expected different databases, none on a copy of the server of another one`,
      );
    }
    places.set(place, name);
  }

  async function join(joining: Database): Promise<Membership> {
    notePlace();
    const placed = await tenants();
    if (placed > 0) {
      throw refusal(
        "database.clusters",
        `the database of ${quote(name)} is a new one, expected the one with its ${placed} tenants`,
      );
    }
    await joining.query(dropExampleStatement, []);
    await joining.write(joinStatement, [directory, name]);
    const joined = await membershipOf(joining);
    if (joined !== undefined) return joined;
    throw refusal(
      "database.clusters",
      `the database of ${quote(name)} has tenants of its own, expected one without tenants`,
    );
  }
}

/**
 * Fails with INVALID_ARGUMENT if tenants of the directory of a database are on others: an instance that knows this one
 * alone would not find them, and would create them a second time.
 */
export async function refuseAlone(database: Database): Promise<void> {
  const [row] = await database.query(aloneStatement, []);
  if (row === undefined || (booleanOf(row, "is_here") && !booleanOf(row, "is_spread"))) return;
  throw refusal(
    "database.uri",
    `is the database of the cluster ${quote(textOf(row, "cluster"))}, and others have tenants, too: expected \`database.clusters\` with all of them`,
  );
}

/** The first of these clusters whose database belongs to a directory. */
async function firstOfDirectory(clusters: readonly ClusterPlace[]): Promise<string | undefined> {
  const asked = clusters.map(async ({ name, url }) => {
    const ask = onDatabase(
      url,
      async (database) => await membershipOf(database, AbortSignal.timeout(answerTimeoutMs)),
      answerTimeoutMs,
    );
    // One that does not answer, or has no tables yet, is asked when it is opened.
    return { name, member: await ask.catch(() => undefined) };
  });
  return (await Promise.all(asked)).find(({ member }) => member !== undefined)?.name;
}

/** The id of the directory in a database. Fails with INVALID_ARGUMENT if it is not that of this cluster. */
export async function directoryIdOf(
  database: Pick<Database, "query">,
  name: string,
): Promise<string> {
  const member = await membershipOf(database);
  if (member === undefined) throw isUnopened(name);
  if (!member.isHere) throw isElsewhere(name);
  refuseOtherName(name, member.cluster);
  return member.id;
}

/** Fails with INVALID_ARGUMENT if the database is not that of this cluster of the directory with the id. */
export async function refuseOtherDatabase(
  database: Pick<Database, "query">,
  { name, directory }: { readonly name: string; readonly directory: string },
): Promise<void> {
  const member = await membershipOf(database);
  if (member === undefined) throw isUnopened(name);
  refuseStranger(member, { name, directory });
}

function refuseStranger(
  member: Membership,
  { name, directory }: { readonly name: string; readonly directory: string },
): void {
  if (member.isHere) {
    throw refusal(
      "database.clusters",
      `the database of ${quote(name)} has placements of tenants, expected \`database.directory\` to name it, and each database once`,
    );
  }
  if (member.id !== directory) {
    throw refusal(
      "database.clusters",
      `the database of ${quote(name)} belongs to another directory, expected one without tenants`,
    );
  }
  refuseOtherName(name, member.cluster);
}

async function membershipOf(
  database: Pick<Database, "query">,
  signal?: AbortSignal,
): Promise<Membership | undefined> {
  const [row] = await database.query(readStatement, [], signal);
  return (
    row && {
      id: textOf(row, "id"),
      cluster: textOf(row, "cluster"),
      isHere: booleanOf(row, "is_here"),
    }
  );
}

function isUnopened(name: string): PembaError {
  return refusal(
    "database.clusters",
    `the database of ${quote(name)} belongs to no directory yet, expected one that an instance with this configuration has opened`,
  );
}

function isSecond(name: string, taken: string): PembaError {
  return refusal(
    "database.directory",
    `names ${quote(name)}, whose database is a new one, while that of ${quote(taken)} belongs to a directory: expected the cluster that has it`,
  );
}

function isElsewhere(name: string): PembaError {
  return refusal(
    "database.directory",
    `the placements of tenants are not in the database of ${quote(name)}, expected the cluster that has them`,
  );
}

function refuseOtherName(name: string, known: string): void {
  if (known === name) return;
  throw refusal(
    "database.clusters",
    `the database of ${quote(name)} is that of the cluster ${quote(known)}, expected it by this name`,
  );
}

function refusal(key: string, problem: string): PembaError {
  return new PembaError("INVALID_ARGUMENT", `${key}: ${problem}`);
}
