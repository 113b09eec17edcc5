import postgres from "postgres";

import { must } from "../src/base/assert.ts";
import { orderOf } from "../src/cli/sql/list-names.ts";
import { printList } from "../src/cli/sql/list-print.ts";
import { readingDatabase } from "../src/cli/sql/list-table.ts";
import { firstTenant } from "../test/data/ask-store.ts";
import { documentId, type NestedSizes } from "../test/data/nested-documents.ts";
import { nestedLookups, userOfAll } from "../test/data/nested-lookups.ts";
import { backendOf, processorMicroseconds } from "./processor-time.ts";
import { figure, formatTable } from "./report.ts";
import type { LoadedDatabase } from "./server.ts";
import { handWritten } from "./sql/hand-written.ts";
import { entrySchema, installSqlInterface } from "./sql/install-interface.ts";

/** A page of documents that a user sees. */
interface Page {
  readonly name: string;
  readonly order: string;
  readonly where: string;
  /** The function that lists them. */
  readonly list: string;
  /** From 1. */
  readonly number: number;
}

export interface SqlResult {
  readonly page: string;
  readonly user: string;
  readonly rows: number;
  /** Milliseconds of processor time of the backend. Undefined when a form takes too long. */
  readonly list: number;
  readonly hand: number;
  readonly visible: number;
  readonly checks: number | undefined;
  /** Of the list to the best of the others. */
  readonly ratio: number;
}

const pageSize = 20;
const runs = 5;

/** A form that walks rows for longer is given up. */
const checksMaxMs = 1_000;

const newest = { order: "created_at desc, id", where: "", list: "newest" };

const pages: readonly Page[] = [
  { name: "newest", ...newest, number: 1 },
  { name: "newest, page 50", ...newest, number: 50 },
  {
    name: "one in a thousand",
    order: newest.order,
    where: "status = 'rare'",
    list: "rare",
    number: 1,
  },
  {
    name: "last reviewed",
    order: "reviewed_at desc, id",
    where: "",
    list: "reviewed",
    number: 1,
  },
];

/**
 * Measures pages of an application's table by a list and by what an application could write instead,
 * for users that see few and many of its rows. Fails when two forms find other rows.
 *
 * @param only a part of the names of the pages that are measured
 */
export async function benchSql(
  sizes: NestedSizes,
  { url }: LoadedDatabase,
  only: string,
  print: (line: string) => void,
): Promise<readonly SqlResult[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    await prepare(sql, url, sizes);
    const results: SqlResult[] = [];
    for (const page of pages.filter(({ name }) => name.includes(only))) {
      const ofPage: SqlResult[] = [];
      for (const { name, user } of usersOf(sizes)) {
        const measured = await measurePage(sql, page, name, user);
        if (measured !== undefined) ofPage.push(measured);
      }
      // A run takes minutes: what was measured is not lost when it is cut off.
      print(tableOf(ofPage));
      results.push(...ofPage);
    }
    return results;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function usersOf(sizes: NestedSizes): readonly { readonly name: string; readonly user: string }[] {
  const classes = nestedLookups(sizes, 4).flatMap(({ name, lookups: [first] }) =>
    first?.kind === "entities" ? [{ name, user: first.user }] : [],
  );
  return [
    ...classes,
    { name: "user who sees all", user: userOfAll(sizes) },
    { name: "user of the oldest", user: "old-user" },
  ];
}

/** Installs the SQL interface, and makes the table of an application with its lists. */
async function prepare(sql: postgres.Sql, url: string, sizes: NestedSizes): Promise<void> {
  await installSqlInterface(url);
  await sql.unsafe(tableStatements(sizes));
  for (const table of ["app.documents", "relationships"]) {
    await sql.unsafe(`vacuum (analyze) ${table}`);
  }
  for (const { list: name, order, where } of new Map(
    pages.map((each) => [each.list, each]),
  ).values()) {
    const columns = must(orderOf(order), "the order has columns");
    const question = { entityType: "document", permission: "view", subjectType: "user" };
    const asked = { table: "app.documents", key: "id", order: columns, name, where, question };
    const { text } = await readingDatabase(
      url,
      async (connection) => await printList(connection, entrySchema, asked),
    );
    await sql.unsafe(text);
  }
}

/** Times are spread over the documents; one user sees the oldest ones only. */
function tableStatements({ documents }: NestedSizes): string {
  const oldest = Math.round(documents / 100);
  return `
    drop schema if exists app cascade;
    create schema app;
    create table app.documents (
      id text primary key, title text not null, body text not null, status text not null,
      created_at timestamptz not null, reviewed_at timestamptz
    );
    insert into app.documents
    select '${documentId(0).replace(/0$/, "")}' || i, 'Document ' || i, repeat(md5(i::text), 4),
      case when i % 1000 = 0 then 'rare' else 'usual' end,
      timestamptz '2020-01-01' + interval '1 second' * (i::bigint * 245489 % 200000003),
      case
        when i % 3 > 0
          then timestamptz '2020-01-01' + interval '1 minute' * (i::bigint * 104729 % 1000003)
      end
    from generate_series(0, ${documents - 1}) as i;
    create index on app.documents (created_at desc, id);
    create index on app.documents (reviewed_at desc, id);
    insert into relationships
    select t.number, 'document', d.id, 'viewer', 'user', 'old-user', '', pg_current_xact_id()
    from tenants as t, (select id from app.documents order by created_at limit ${oldest}) as d
    where t.id = '${firstTenant}'
    on conflict do nothing;
  `;
}

async function measurePage(
  sql: postgres.Sql,
  page: Page,
  name: string,
  user: string,
): Promise<SqlResult | undefined> {
  const [column = ""] = page.order.split(" ");
  const before = (page.number - 1) * pageSize;
  const [place] =
    before === 0
      ? [{ at: null, id: null }]
      : await sql.unsafe<{ at: string; id: string }[]>(
          `select l.${column}::text as at, l.id
          from pemba.${page.list}('${firstTenant}', '${user}', null, null, ${before}) as l
          offset ${before - 1}`,
        );
  // The user has no such page.
  if (place === undefined) return undefined;
  const after = place.id === null ? "null, null" : `'${place.at ?? "infinity"}', '${place.id}'`;
  const rest = `${page.where === "" ? "" : `and d.${page.where}`}
    order by ${page.order.replaceAll(/(\w+)(?: desc)?(?:,|$)/g, "d.$&")} offset ${before} limit ${pageSize}`;
  const list = `select l.id
    from pemba.${page.list}('${firstTenant}', '${user}', ${after}, ${pageSize}) as l`;
  const visible = `select d.id
    from app.documents as d
    join pemba.visible('${firstTenant}', 'document', 'view', 'user', '${user}') as v(id) on v.id = d.id
    where true ${rest}`;
  const checks = `select d.id from app.documents as d
    where pemba.may('${firstTenant}', 'document', d.id, 'view', 'user', '${user}') ${rest}`;
  const hand = handWritten(user, rest);
  const rows = await idsOf(sql, list);
  for (const other of [visible, hand]) {
    const theirs = await idsOf(sql, other);
    if (theirs.join() !== rows.join()) throw new Error(`${page.name}, ${name}: other rows`);
  }
  const measured = {
    list: await processorMs(sql, list),
    hand: await processorMs(sql, hand),
    visible: await processorMs(sql, visible),
    checks: (await ends(sql, checks)) ? await processorMs(sql, checks) : undefined,
  };
  const best = Math.min(measured.hand, measured.visible, measured.checks ?? Infinity);
  return {
    page: page.name,
    user: name,
    rows: rows.length,
    ...measured,
    ratio: measured.list / best,
  };
}

async function idsOf(sql: postgres.Sql, query: string): Promise<readonly string[]> {
  const rows = await sql.unsafe<{ id: string }[]>(query);
  return rows.map(({ id }) => id);
}

/** Whether a query ends soon enough to be measured. */
async function ends(sql: postgres.Sql, query: string): Promise<boolean> {
  await sql.unsafe(`set statement_timeout to ${checksMaxMs}`);
  try {
    await sql.unsafe(query);
    return true;
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.code === "57014") return false;
    throw error;
  } finally {
    await sql.unsafe("set statement_timeout to 0");
  }
}

/** The median of a query, of processor time: other load of the machine matters less to it. */
async function processorMs(sql: postgres.Sql, query: string): Promise<number> {
  const pid = await backendOf(sql);
  await sql.unsafe(query);
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const before = await processorMicroseconds(pid);
    await sql.unsafe(query);
    times.push(((await processorMicroseconds(pid)) - before) / 1_000);
  }
  return must(times.toSorted((a, b) => a - b)[Math.floor(runs / 2)], "there is a median");
}

function tableOf(results: readonly SqlResult[]): string {
  return formatTable(
    ["page of documents, ms", "user", "rows", "list", "hand-written", "visible", "may", "ratio"],
    results.map(({ page, user, rows, list, hand, visible, checks, ratio }) => [
      page,
      user,
      String(rows),
      figure(list),
      figure(hand),
      figure(visible),
      checks === undefined ? "-" : figure(checks),
      figure(ratio),
    ]),
  );
}
