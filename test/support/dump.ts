import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

import postgres from "postgres";

import { migrateUp } from "../../src/store/postgres/migrate.ts";

const run = promisify(execFile);

/** Carries everything from one database to an empty one of another server. */
export interface Carrier {
  readonly name: string;
  /** Why it cannot carry from this server, if it cannot. */
  readonly unfit: (from: string) => Promise<string | undefined>;
  readonly carry: (from: string, to: string) => Promise<void>;
}

export const carriers: readonly Carrier[] = [
  { name: "copied rows", unfit: async () => await Promise.resolve(undefined), carry: copyRows },
  { name: "pg_dump and psql", unfit: whyNoDump, carry: dumpAndRestore },
];

/** What a dump does, without its program: the tables made anew, the rows as they are, the counters. */
async function copyRows(from: string, to: string): Promise<void> {
  await migrateUp(to);
  const [source, target] = [
    postgres(from, { max: 1 }),
    postgres(to, { max: 1, onnotice: () => {} }),
  ];
  try {
    const tables = await source<{ name: string }[]>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'
    `;
    for (const { name } of tables) {
      await target`truncate ${target(name)}`;
      const rows = await source`copy ${source(name)} to stdout`.readable();
      await pipeline(rows, await target`copy ${target(name)} from stdin`.writable());
    }
    const counters = await source<{ name: string; value: string | null }[]>`
      select sequencename as name, last_value::text as value from pg_sequences
      where schemaname = 'public'
    `;
    for (const { name, value } of counters) {
      if (value !== null) await target`select setval(${name}, ${value}::text::bigint)`;
    }
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

/** A dump program reads servers up to its own version. */
async function whyNoDump(from: string): Promise<string | undefined> {
  const found = await run("pg_dump", ["--version"]).catch(() => undefined);
  const hasPsql = await run("psql", ["--version"]).catch(() => undefined);
  if (found === undefined || hasPsql === undefined) return "there is no pg_dump and psql";
  const own = Number(/\) (\d+)/.exec(found.stdout)?.[1]);
  const sql = postgres(from, { max: 1 });
  const [row] = await sql<{ major: number }[]>`
    select current_setting('server_version_num')::integer / 10000 as major
  `;
  await sql.end();
  const major = row?.major ?? Number.NaN;
  return own >= major ? undefined : `pg_dump ${own} does not dump a server ${major}`;
}

async function dumpAndRestore(from: string, to: string): Promise<void> {
  const dump = spawn("pg_dump", ["--no-owner", from], { stdio: ["ignore", "pipe", "inherit"] });
  const restore = spawn("psql", ["--quiet", "--set=ON_ERROR_STOP=1", to], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const ended = Promise.all([once(dump, "exit"), once(restore, "exit")]);
  await pipeline(dump.stdout, restore.stdin);
  const statuses = (await ended).map(([status]: unknown[]) => status);
  if (statuses.some((status) => status !== 0)) {
    throw new Error(`pg_dump and psql ended with ${statuses.join(" and ")}`);
  }
}
