import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

import postgres from "postgres";

import { must } from "../src/base/assert.ts";
import { migrateUp } from "../src/store/postgres/migrate.ts";
import { firstTenant } from "../test/data/ask-store.ts";
import type { Dataset } from "../test/data/dataset.ts";
import { loadFacts } from "../test/data/load.ts";
import { startPostgresBinaries } from "../test/support/postgres-binaries.ts";
import { openStore } from "./store.ts";

/** The Postgres that a benchmark runs on. */
export interface BenchServer {
  readonly url: string;
  readonly description: string;
  readonly stop: () => Promise<void>;
}

/** A database with one data set, of the tenant that every database starts with. */
export interface LoadedDatabase {
  readonly url: string;
  /** The number of the tenant in the tables. */
  readonly tenant: string;
  readonly drop: () => Promise<void>;
}

export interface LoadedData extends Omit<Dataset, "classes"> {
  /** What is done to the database once the facts are in it. */
  readonly afterLoad?: (url: string) => Promise<void>;
}

const migrations = new URL("../migrations/", import.meta.url);
const generators = new URL("../test/data/", import.meta.url);

/**
 * The server of `PEMBA_BENCH_DATABASE_URL`, else one of our own, durable as in production.
 */
export async function openServer(sharedBuffers: string): Promise<BenchServer> {
  const given = process.env["PEMBA_BENCH_DATABASE_URL"];
  if (given !== undefined && given !== "") return await describeServer(given);
  const own = await startPostgresBinaries([
    `shared_buffers=${sharedBuffers}`,
    "max_wal_size=8GB",
    // Nothing may start to clean up in the middle of a measurement.
    "autovacuum=off",
  ]);
  const { description } = await describeServer(own.url);
  return { ...own, description };
}

/** A server that runs already and is not ours to stop. */
async function describeServer(url: string): Promise<BenchServer> {
  const [version] = await onServer(
    url,
    (sql) => sql`select current_setting('server_version') as version,
      current_setting('shared_buffers') as buffers`,
  );
  const description = `Postgres ${version?.["version"]}, shared_buffers ${version?.["buffers"]}`;
  return { url, description, stop: async () => {} };
}

/**
 * Makes a database with the schema and the facts, or takes the one that an earlier run kept, if it
 * was made by the same migrations and the same generators.
 */
export async function loadDatabase(
  server: BenchServer,
  data: LoadedData,
  print: (line: string) => void,
): Promise<LoadedDatabase> {
  const name = `pemba_bench_${data.name}`;
  const url = withDatabase(server.url, name);
  const fingerprint = await fingerprintOf(data);
  if ((await commentOf(server, name)) !== fingerprint) {
    await createDatabase(server, name);
    const store = await openStore({ url, connections: 1 });
    await store.schemas.write(firstTenant, { text: data.schema });
    await store.close();
    const { count, seconds } = await loadFacts(url, await tenantNumber(url), data.facts);
    const rate = Math.round(count / seconds).toLocaleString("en");
    print(`loaded ${data.name}: ${count.toLocaleString("en")} facts, ${rate}/s`);
    await data.afterLoad?.(url);
    await onServer(url, (sql) => sql.unsafe(`comment on database ${name} is '${fingerprint}'`));
  }
  const drop = async () => await dropDatabase(server, name);
  return { url, tenant: await tenantNumber(url), drop };
}

/** Makes a database that is migrated and has no data, in the place of one with the same name. */
export async function createDatabase(
  server: BenchServer,
  name: string,
): Promise<Omit<LoadedDatabase, "tenant">> {
  const database = await emptyDatabase(server, name);
  await migrateUp(database.url);
  return database;
}

/** The same without migrations. */
export async function emptyDatabase(
  server: BenchServer,
  name: string,
): Promise<Omit<LoadedDatabase, "tenant">> {
  const drop = async () => await dropDatabase(server, name);
  await drop();
  await onServer(server.url, (sql) => sql`create database ${sql(name)}`);
  return { url: withDatabase(server.url, name), drop };
}

async function dropDatabase(server: BenchServer, name: string): Promise<void> {
  await onServer(server.url, (sql) => sql`drop database if exists ${sql(name)} with (force)`);
}

/** Changes with the migrations and with all that makes data. */
async function fingerprintOf({ schema, key }: LoadedData): Promise<string> {
  const hash = createHash("sha256").update(schema).update(key);
  for (const folder of [migrations, generators]) {
    const files = await readdir(folder, { recursive: true });
    for (const file of files.filter((name) => /\.(sql|ts)$/.test(name)).toSorted()) {
      hash.update(await readFile(new URL(file, folder)));
    }
  }
  return hash.digest("hex");
}

async function commentOf(server: BenchServer, name: string): Promise<string | undefined> {
  const [row] = await onServer(
    server.url,
    (sql) => sql`select shobj_description(oid, 'pg_database') as comment
      from pg_database where datname = ${name}`,
  );
  const comment: unknown = row?.["comment"];
  return typeof comment === "string" ? comment : undefined;
}

async function tenantNumber(url: string): Promise<string> {
  const [row] = await onServer(
    url,
    (sql) => sql<{ number: string }[]>`
      select number::text as number from tenants where id = ${firstTenant}`,
  );
  return String(must(row, "every database starts with the tenant")["number"]);
}

/** Runs one piece of work on a connection of its own. */
export async function onServer<T>(
  url: string,
  work: (sql: postgres.Sql) => PromiseLike<T>,
): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
