import postgres from "postgres";

import { must } from "../src/base/assert.ts";
import { tupleText } from "../src/base/text-notation.ts";
import type { Tuple } from "../src/base/tuple.ts";
import { lockWaitMs } from "../src/store/layer/limit-changes.ts";
import { statementFile } from "../src/store/postgres/connect/statement-file.ts";
import { arrayLiteral, type ParameterValue } from "../src/store/postgres/connect/value.ts";
import { lockWait } from "../src/store/postgres/data/change-outcome.ts";
import { attributeColumns, tupleColumns } from "../src/store/postgres/data/columns.ts";
import { firstTenant } from "../test/data/ask-store.ts";
import { newTuple, writtenData } from "./compare/writes.ts";
import { medianOfNumbers } from "./measure.ts";
import { backendOf, processorMicroseconds } from "./processor-time.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase, onServer } from "./server.ts";
import { entrySchema, installSqlInterface } from "./sql/install-interface.ts";
import { makeMappedTable, mappedTable, plainTable } from "./sql/mapped-table.ts";
import { openStore } from "./store.ts";

/** What an application writes, and what it is compared with. */
interface WriteClass {
  readonly name: string;
  /** Tuples or rows of a call. */
  readonly size: number;
  /** Of each side, in a run. */
  readonly calls: number;
  /** Microseconds are those beside a call that does nothing. */
  readonly wanted: { readonly of: "ratio" | "microseconds"; readonly most: number };
  readonly statements: Readonly<Record<Exclude<Side, "nothing">, Call>>;
}

/** `nothing` is a statement that does nothing: what each call costs beside its work. */
type Side = "application" | "other" | "nothing";

/** Sends a statement that writes elements which no other call writes. */
type Call = (sql: postgres.Sql, from: number) => PromiseLike<unknown>;

export interface SqlWriteResult {
  readonly writes: string;
  /** Microseconds of processor time of the backend for a tuple or a row; medians. */
  readonly application: number;
  readonly other: number;
  readonly nothing: number;
  /** Of the first to the second; the median of the runs, then the lowest and the highest. */
  readonly ratio: number;
  readonly lowest: number;
  readonly highest: number;
  readonly isMissed: boolean;
}

/** Calls of one side before it is the next one's turn. */
const turn = 10;

const sides: readonly Side[] = ["application", "other", "nothing"];

const doNothing: Call = (sql) => send(sql, "select 1", []);

/** What statements of the service say of the tenant and the server. */
interface Place {
  readonly number: string;
  readonly head: string;
  readonly timeline: number;
}

/**
 * Measures what applications write in SQL beside what the service sends for the same data, then rows of a
 * table with a map beside those of the same table without it. All of it goes over one connection, each call
 * in a transaction of its own, which does not wait for the disk.
 */
export async function benchSqlWrites(
  server: BenchServer,
  { runs, only }: { readonly runs: number; readonly only: string },
  print: (line: string) => void,
): Promise<readonly SqlWriteResult[]> {
  const database = await loadDatabase(server, { ...writtenData, name: "sql_write" }, print);
  const sql = postgres(database.url, {
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    connection: { synchronous_commit: "off" },
  });
  try {
    await installSqlInterface(database.url);
    const place = await placeOf(database.url);
    const results: SqlWriteResult[] = [];
    const measureAll = async (classes: readonly WriteClass[]): Promise<void> => {
      for (const each of classes.filter(({ name }) => name.includes(only)))
        results.push(await measureClass(sql, each, runs));
    };
    await measureAll(directClasses(place));
    // While there is no map, a write does not look for one.
    await makeMappedTable(database.url);
    await measureAll(mapClasses);
    print(tableOf(results));
    return results;
  } finally {
    await sql.end({ timeout: 5 });
    await database.drop();
  }
}

/** An instance records the timeline with its first write. */
async function placeOf(url: string): Promise<Place> {
  const store = await openStore({ url, connections: 1 });
  const nothing = { schemaVersion: undefined, tuples: [], attributes: [] };
  await store.data.write(firstTenant, nothing);
  await store.close();
  return await onServer(url, async (sql) => {
    const [place] = await sql<Place[]>`
      select number::text, head_version as head, current_timeline() as timeline
      from tenants where id = ${firstTenant}
    `;
    return must(place, "every database starts with the tenant");
  });
}

function directClasses(place: Place): readonly WriteClass[] {
  return [
    {
      name: "write_tuple",
      size: 1,
      calls: 1_000,
      wanted: { of: "ratio", most: 1.5 },
      statements: {
        application: (sql, from) => {
          const { entity, relation, subject } = tupleOf("single", from);
          return send(sql, `select ${entrySchema}.write_tuple($1, $2, $3, $4, $5, $6)`, [
            firstTenant,
            entity.type,
            entity.id,
            relation,
            subject.type,
            subject.id,
          ]);
        },
        other: (sql, from) => send(sql, writeTupleStatement, singleValues(place, from)),
      },
    },
    {
      name: "write_tuples of 100",
      size: 100,
      calls: 100,
      wanted: { of: "ratio", most: 2 },
      statements: {
        application: (sql, from) =>
          send(sql, `select ${entrySchema}.write_tuples($1, $2::text[])`, [
            firstTenant,
            arrayLiteral(tuplesOf("batch", from, 100).map(tupleText)),
          ]),
        other: (sql, from) => send(sql, writeStatement, batchValues(place, from)),
      },
    },
  ];
}

const writeTupleStatement = statementFile("data/write-tuple.sql");
const writeStatement = statementFile("data/write.sql");

function singleValues({ number, head, timeline }: Place, from: number): readonly ParameterValue[] {
  const columns = tupleColumns([tupleOf("service-single", from)]).flat();
  return [firstTenant, number, timeline, head, ...columns, lockWait(lockWaitMs)];
}

function batchValues({ number, head, timeline }: Place, from: number): readonly ParameterValue[] {
  const columns = [
    ...tupleColumns(tuplesOf("service-batch", from, 100)),
    ...attributeColumns([]),
  ].map(arrayLiteral);
  return [firstTenant, number, timeline, null, head, ...columns, lockWait(lockWaitMs)];
}

const mapClasses: readonly WriteClass[] = [
  {
    name: "a mapped row, two tuples",
    size: 1,
    calls: 1_000,
    wanted: { of: "microseconds", most: 150 },
    statements: insertsOf(1),
  },
  {
    name: "1,000 mapped rows, two tuples each",
    size: 1_000,
    calls: 20,
    wanted: { of: "microseconds", most: 30 },
    statements: insertsOf(1_000),
  },
];

function insertsOf(size: number): WriteClass["statements"] {
  const into =
    (table: string): Call =>
    (sql, from) => {
      const rows = tuplesOf(`rows-of-${size}`, from, size);
      const ids = rows.map(({ entity }) => entity.id);
      const users = rows.map(({ subject }) => subject.id);
      return send(
        sql,
        `insert into ${table} (id, owner_id, viewer_id)
        select * from unnest($1::text[], $2::text[], $3::text[])`,
        [ids, users, users.toReversed()].map(arrayLiteral),
      );
    };
  return { application: into(mappedTable), other: into(plainTable) };
}

function tupleOf(ofClass: string, nth: number): Tuple {
  const { entity, relation, subject } = newTuple(ofClass, nth);
  return { entity, relation, subject: { ...subject, relation: "" } };
}

function tuplesOf(ofClass: string, from: number, count: number): readonly Tuple[] {
  return Array.from({ length: count }, (_, nth) => tupleOf(ofClass, from + nth));
}

function send(
  sql: postgres.Sql,
  text: string,
  values: readonly ParameterValue[],
): PromiseLike<unknown> {
  return sql.unsafe(text, [...values], { prepare: true });
}

async function measureClass(
  sql: postgres.Sql,
  { name, size, calls, wanted, statements }: WriteClass,
  runs: number,
): Promise<SqlWriteResult> {
  const backend = await backendOf(sql);
  const sent: Readonly<Record<Side, Call>> = { ...statements, nothing: doNothing };
  const measured: Record<Side, number>[] = [];
  let next = 0;
  // The log is empty at first, and a plan that was made then stays until the log is analyzed. So the second run
  // plans.
  for (let run = -1; run <= runs; run++) {
    if (run === 0) await sql.unsafe("vacuum (analyze)");
    const spent: Record<Side, number> = { application: 0, other: 0, nothing: 0 };
    for (let made = 0; made < calls; made += turn) {
      const order = (made / turn) % 2 === 0 ? sides : sides.toReversed();
      for (const side of order) {
        const before = await processorMicroseconds(backend);
        for (let nth = next; nth < next + turn; nth++) await sent[side](sql, nth * size);
        spent[side] += (await processorMicroseconds(backend)) - before;
      }
      next += turn;
    }
    if (run > 0) measured.push(spent);
  }
  const perElement = (side: Side): number =>
    medianOfNumbers(measured.map((spent) => spent[side] / calls / size));
  const ratios = measured.map(({ application, other }) => application / other);
  const result = {
    writes: name,
    application: perElement("application"),
    other: perElement("other"),
    nothing: perElement("nothing"),
    ratio: medianOfNumbers(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
  };
  const reached = wanted.of === "ratio" ? result.ratio : result.application - result.nothing;
  return { ...result, isMissed: reached > wanted.most };
}

function tableOf(results: readonly SqlWriteResult[]): string {
  return formatTable(
    [
      "microseconds of a tuple or row",
      "application",
      "other",
      "nothing",
      "ratio",
      "lowest",
      "highest",
      "",
    ],
    results.map(({ writes, application, other, nothing, ratio, lowest, highest, isMissed }) => [
      writes,
      ...[application, other, nothing, ratio, lowest, highest].map(figure),
      isMissed ? "missed" : "",
    ]),
  );
}
