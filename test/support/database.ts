import { randomUUID } from "node:crypto";

import postgres from "postgres";

export interface TestDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** Makes a fresh, empty database on the run's server, for one test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return await createDatabase({ template: "template1" });
}

/** The same with all migrations applied. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  return await createDatabase({ template: templateName() });
}

/** Makes what `createMigratedDatabase` copies, once for a run: to migrate takes far longer. */
export async function createTemplate(migrate: (url: string) => Promise<unknown>): Promise<void> {
  const { url } = await createDatabase({ name: templateName(), template: "template1" });
  await migrate(url);
}

async function createDatabase({
  name = `${namePrefix()}${randomUUID().slice(0, 13)}`,
  template,
}: {
  readonly name?: string;
  readonly template: string;
}): Promise<TestDatabase> {
  const sql = onServer();
  isFrom15 ??= await isFromVersion15(sql);
  // To log the whole content costs a database more than its tests; older servers do not.
  const strategy = isFrom15 ? sql`strategy file_copy` : sql``;
  await sql`create database ${sql(name)} template ${sql(template)} ${strategy}`;
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  if (!isFrom15) await makeAsFrom15(url.href);
  return { url: url.href, drop: async () => await dropDatabase(name) };
}

/** On an older server every role may make objects in the schema `public`, which Pemba warns of. */
async function makeAsFrom15(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  try {
    await sql`alter schema public owner to pg_database_owner`;
    await sql`revoke create on schema public from public`;
  } finally {
    await sql.end();
  }
}

/** By which this process makes and drops databases: a new connection costs as much as a database. */
let server: postgres.Sql | undefined;
let isFrom15: boolean | undefined;

function onServer(): postgres.Sql {
  // In seconds: a process that does not close the connection ends all the same.
  server ??= postgres(serverUrl(), { max: 1, idle_timeout: 30, onnotice: () => {} });
  return server;
}

async function isFromVersion15(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ version: number }[]>`
    select current_setting('server_version_num')::integer as version`;
  return (row?.version ?? 0) >= 150_000;
}

/** Closes the connection by which databases are made and dropped; the next one opens it again. */
export async function closeServerConnection(): Promise<void> {
  const closing = server;
  server = undefined;
  await closing?.end({ timeout: 1 });
}

/** Marks a role of the server, which this run has made, to be dropped when the run ends. */
export async function markTestRole(sql: postgres.Sql, role: string): Promise<void> {
  await sql`comment on role ${sql(role)} is ${sql.unsafe(`'${namePrefix()}'`)}`;
}

/** Drops every database that this run made and did not drop, and the roles that it marked. */
export async function dropTestDatabases(): Promise<void> {
  const sql = onServer();
  try {
    const left = await sql<{ name: string }[]>`
      select datname as name from pg_database where starts_with(datname, ${namePrefix()})
    `;
    for (const { name } of left) await dropDatabase(name);
    const roles = await sql<{ name: string }[]>`
      select rolname as name from pg_roles where shobj_description(oid, 'pg_authid') = ${namePrefix()}
    `;
    for (const { name } of roles) await sql`drop role ${sql(name)}`;
  } finally {
    await closeServerConnection();
  }
}

async function dropDatabase(name: string): Promise<void> {
  const sql = onServer();
  await sql`drop database if exists ${sql(name)} with (force)`;
}

function namePrefix(): string {
  return `pemba_test_${process.env["PEMBA_TEST_RUN"] ?? "alone"}_`;
}

function templateName(): string {
  return `${namePrefix()}template`;
}

function serverUrl(): string {
  const url = process.env["PEMBA_TEST_DATABASE_URL"];
  if (url === undefined) {
    throw new Error("no Postgres: run tests with `npm test` or `npm run test:only -- <files>`");
  }
  return url;
}
