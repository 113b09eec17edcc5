import { randomUUID } from "node:crypto";

import postgres from "postgres";

export interface TestDatabase {
  readonly url: string;
  readonly drop: () => Promise<void>;
}

/** Makes a fresh, empty database on the run's server, for one test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `${namePrefix()}${randomUUID().slice(0, 13)}`;
  await onServer((sql) => sql`create database ${sql(name)}`);
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer((sql) => dropDatabase(sql, name)) };
}

/** Drops every database that this run made and did not drop. */
export async function dropTestDatabases(): Promise<void> {
  await onServer(async (sql) => {
    const left = await sql<{ name: string }[]>`
      select datname as name from pg_database where starts_with(datname, ${namePrefix()})
    `;
    for (const { name } of left) await dropDatabase(sql, name);
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

function serverUrl(): string {
  const url = process.env["PEMBA_TEST_DATABASE_URL"];
  if (url === undefined) {
    throw new Error("no Postgres: run tests with `npm test` or `npm run test:only -- <files>`");
  }
  return url;
}
