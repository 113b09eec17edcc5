import postgres from "postgres";

import type { Tuple } from "../src/base/tuple.ts";
import { sessionSettings } from "../src/store/postgres/connect/connection-route.ts";
import { arrayLiteral } from "../src/store/postgres/connect/value.ts";
import { tupleColumns } from "../src/store/postgres/data/columns.ts";
import { firstTenant } from "../test/data/ask-store.ts";
import { type Measurement, medianOf, measureWork } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase, onServer } from "./server.ts";
import { openStore } from "./store.ts";

export interface WriteBenchOptions {
  readonly runs: number;
  /** Of one run of one class by one of the two. */
  readonly seconds: number;
  readonly keep: boolean;
}

/** Writes of so many tuples each, by so many connections at the same time. */
interface WriteClass {
  readonly batch: number;
  readonly writers: number;
}

export interface WriteResult extends WriteClass {
  readonly pemba: Measurement;
  readonly plain: Measurement;
  /** Of the throughputs. */
  readonly ratio: number;
}

const classes: readonly WriteClass[] = [
  { batch: 1, writers: 8 },
  { batch: 100, writers: 8 },
  { batch: 1_000, writers: 8 },
  { batch: 100, writers: 1 },
  { batch: 1_000, writers: 1 },
];

const schema = `
entity user {}
entity group { relation member @user }
entity document { relation viewer @user @group#member }
`;

/** Writes as the other one of the two does. */
type Name = "pemba" | "plain";

interface Contender {
  readonly write: (tuples: readonly Tuple[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Measures writes through Pemba's store and a plain insert of the same rows into one table with the
 * two indexes that any store of tuples has, in turn, on the same server.
 */
export async function benchWrites(
  server: BenchServer,
  options: WriteBenchOptions,
  print: (line: string) => void,
): Promise<readonly WriteResult[]> {
  const data = { name: "write", schema, key: "write", facts: () => [] };
  const database = await loadDatabase(server, { ...data, afterLoad: makePlainTable }, print);
  const results: WriteResult[] = [];
  try {
    for (const each of classes) {
      print(`${each.batch} tuples a write, ${each.writers} connection(s) ...`);
      const contenders: Readonly<Record<Name, Contender>> = {
        pemba: await openPemba(database.url, each.writers),
        plain: openPlain(database.url, each.writers),
      };
      try {
        const { pemba, plain } = await compare(contenders, each, options);
        results.push({ ...each, pemba, plain, ratio: pemba.perSecond / plain.perSecond });
      } finally {
        await Promise.all([contenders.pemba.close(), contenders.plain.close()]);
      }
    }
  } finally {
    if (!options.keep) await database.drop();
  }
  print(`\n${writeTable(results)}`);
  return results;
}

async function compare(
  contenders: Readonly<Record<Name, Contender>>,
  { batch, writers }: WriteClass,
  { runs, seconds }: WriteBenchOptions,
): Promise<Readonly<Record<Name, Measurement>>> {
  const measured: Record<Name, Measurement[]> = { pemba: [], plain: [] };
  const load = { inFlight: writers, seconds };
  for (let run = 0; run <= runs; run++) {
    const order: readonly Name[] = run % 2 === 0 ? ["pemba", "plain"] : ["plain", "pemba"];
    for (const name of order) {
      const measurement = await measureWork(() => contenders[name].write(newTuples(batch)), load);
      // The first writes open connections and plan.
      if (run > 0) measured[name].push(measurement);
    }
  }
  return { pemba: medianOf(measured.pemba), plain: medianOf(measured.plain) };
}

async function makePlainTable(url: string): Promise<void> {
  await onServer(url, async (sql) => {
    await sql`
      create table plain (
        tenant bigint not null,
        entity_type text collate "C" not null,
        entity_id text collate "C" not null,
        relation text collate "C" not null,
        subject_type text collate "C" not null,
        subject_id text collate "C" not null,
        subject_relation text collate "C" not null
      )`;
    await sql`
      create unique index on plain
        (entity_id, relation, entity_type, tenant, subject_type, subject_relation, subject_id)`;
    await sql`
      create index on plain
        (subject_id, subject_type, tenant, subject_relation, entity_type, relation, entity_id)`;
  });
}

async function openPemba(url: string, connections: number): Promise<Contender> {
  const store = await openStore({ url, connections });
  return {
    write: async (tuples) => {
      await store.data.write(firstTenant, { schemaVersion: undefined, tuples, attributes: [] });
    },
    close: () => store.close(),
  };
}

function openPlain(url: string, connections: number): Contender {
  const sql = postgres(url, {
    max: connections,
    fetch_types: false,
    onnotice: () => {},
    connection: sessionSettings,
  });
  return {
    write: async (tuples) => {
      await sql.unsafe(
        `insert into plain
         select 1, *
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])`,
        tupleColumns(tuples).map(arrayLiteral),
        { prepare: true },
      );
    },
    close: () => sql.end(),
  };
}

let made = 0;

/** Tuples that were never there, of ids that are spread over the indexes as random ones are. */
function newTuples(count: number): readonly Tuple[] {
  return Array.from({ length: count }, () => {
    const place = Math.imul(++made, 0x9e37_79b1) >>> 0;
    return {
      entity: { type: "document", id: `d${place.toString(36)}` },
      relation: "viewer",
      subject: { type: "user", id: `u${(made % 100_000).toString(36)}`, relation: "" },
    };
  });
}

function writeTable(results: readonly WriteResult[]): string {
  const half = (rate: string): readonly string[] => [rate, "p50 ms", "p99"];
  const headings = ["tuples a write", "conns", ...half("pemba/s"), ...half("plain/s"), "ratio"];
  const cells = ({ perSecond, p50, p99 }: Measurement): readonly string[] => [
    figure(perSecond),
    figure(p50),
    figure(p99),
  ];
  return formatTable(
    headings,
    results.map(({ batch, writers, pemba, plain, ratio }) => [
      String(batch),
      String(writers),
      ...cells(pemba),
      ...cells(plain),
      figure(ratio),
    ]),
  );
}
