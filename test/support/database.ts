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
  await onServer(async (sql) => {
    const [row] = await sql<{ version: number }[]>`
      select current_setting('server_version_num')::integer as version`;
    // To log the whole content costs a database more than its tests; older servers do not.
    const strategy = (row?.version ?? 0) >= 150_000 ? sql`strategy file_copy` : sql``;
    await sql`create database ${sql(name)} template ${sql(template)} ${strategy}`;
  });
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer((sql) => dropDatabase(sql, name)) };
}

/** Marks a role of the server, which this run has made, to be dropped when the run ends. */
export async function markTestRole(sql: postgres.Sql, role: string): Promise<void> {
  await sql`comment on role ${sql(role)} is ${sql.unsafe(`'${namePrefix()}'`)}`;
}

/** Drops every database that this run made and did not drop, and the roles that it marked. */
export async function dropTestDatabases(): Promise<void> {
  await onServer(async (sql) => {
    const left = await sql<{ name: string }[]>`
      select datname as name from pg_database where starts_with(datname, ${namePrefix()})
    `;
    for (const { name } of left) await dropDatabase(sql, name);
    const roles = await sql<{ name: string }[]>`
      select rolname as name from pg_roles where shobj_description(oid, 'pg_authid') = ${namePrefix()}
    `;
    for (const { name } of roles) await sql`drop role ${sql(name)}`;
  });
}

async function dropDatabase(sql: postgres.Sql, name: string): Promise<void> {
  await sql`drop database if exists ${sql(name)} with (force)`;
}

async function onServer(work: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
  const sql = postgres(serverUrl(), { max: 1, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
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
