import { setTimeout as wait } from "node:timers/promises";

import { must } from "../src/base/assert.ts";
import type { TenantId } from "../src/base/tuple.ts";
import { parseTenantId } from "../src/service/field.ts";
import { Database } from "../src/store/postgres/connect/database.ts";
import { collectGarbage } from "../src/store/postgres/garbage.ts";
import type { Store } from "../src/store/store.ts";
import { type Dataset, type Fact, fact } from "./data/dataset.ts";
import { loadFacts } from "./load.ts";
import { askOf, measureDuring, type Measurement, measureWork } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase, onServer } from "./server.ts";
import { checkThrough, openStore, poolOf } from "./store.ts";

export interface LifeBenchOptions {
  /** Of the checks while nothing else goes on. */
  readonly seconds: number;
  /** Of the tenants that are deleted from. */
  readonly tuples: number;
}

/** What goes on beside the checks of another tenant. */
export interface LifeResult {
  readonly work: string;
  /** How long it took beside them. */
  readonly seconds: number;
  readonly idle: Measurement;
  readonly busy: Measurement;
  /** Of the 99th percentiles, busy to idle: wanted is at most 3. */
  readonly ratio: number;
}

/** Checks at the same time; more would measure how they wait for each other. */
const inFlight = 2;
const hour = 3_600_000;

const everything = {
  tuples: {
    entity: { type: "document", ids: [] },
    relation: "",
    subject: { type: "", ids: [], relation: "" },
  },
  attributes: undefined,
};

const last = {
  entity: { type: "user", id: "last" },
  relation: "self",
  subject: { type: "user", id: "last", relation: "" },
};

/** Measures the checks of a tenant while others are deleted from, collected and deleted. */
export async function benchLife(
  server: BenchServer,
  dataset: Dataset,
  options: LifeBenchOptions,
  print: (line: string) => void,
): Promise<readonly LifeResult[]> {
  const asked = await loadDatabase(server, { ...dataset, name: "life" }, print);
  const store = await openStore({ url: asked.url, connections: 4 });
  const database = await Database.connect({ url: asked.url, pool: poolOf(1), warn: print });
  const results: LifeResult[] = [];
  const beside = async (work: string, other: () => Promise<void>): Promise<void> => {
    results.push(await measureBeside(store, dataset, options.seconds, { work, other }));
  };
  try {
    const emptied = await loadTenant(store, asked.url, "emptied", options.tuples);
    await beside("delete by an open filter", async () => {
      await store.data.delete(emptied, everything);
    });
    // The log is collected up to the youngest transaction that is old enough.
    await store.schemas.write(emptied, { text: dataset.schema });
    await store.data.write(emptied, { schemaVersion: undefined, tuples: [last], attributes: [] });
    await wait(10);
    await beside("garbage collection of the log", async () => {
      const pass = await collectGarbage(database, { windowMs: 1, timeoutMs: hour, byLog: true });
      print(`collected ${pass.removed} logged changes`);
    });
    const deleted = await loadTenant(store, asked.url, "deleted", options.tuples);
    await beside("removal of a tenant", async () => {
      await store.tenants.delete(deleted);
      await untilRemoved(asked.url);
    });
  } finally {
    await database.close();
    await store.close();
    await asked.drop();
  }
  print(`\n${lifeTable(results)}`);
  return results;
}

async function measureBeside(
  store: Store,
  { classes }: Dataset,
  seconds: number,
  { work, other }: { readonly work: string; readonly other: () => Promise<void> },
): Promise<LifeResult> {
  const questions = classes.flatMap((each) => each.questions);
  const ask = askOf((question) => checkThrough(store, question), questions);
  // What the checks prepare in their connections is there already in a server that runs.
  await measureWork(ask, { inFlight, seconds: seconds / 2 });
  const idle = await measureWork(ask, { inFlight, seconds });
  const [busy, took] = await measureDuring(ask, inFlight, async () => {
    const start = performance.now();
    await other();
    return (performance.now() - start) / 1000;
  });
  return { work, seconds: took, idle, busy, ratio: busy.p99 / idle.p99 };
}

/** A tenant with so many tuples, which nothing is asked of. */
async function loadTenant(
  store: Store,
  url: string,
  name: string,
  tuples: number,
): Promise<TenantId> {
  const id = parseTenantId(name);
  await store.tenants.create({ id, name });
  const [row] = await onServer(
    url,
    (sql) => sql<{ number: string }[]>`select number::text as number from tenants where id = ${id}`,
  );
  const { number } = must(row, "the tenant has just been created");
  await loadFacts(url, number, () => documents(tuples));
  return id;
}

function* documents(count: number): Generator<Fact> {
  for (let index = 0; index < count; index++) {
    const document = { type: "document", id: `${name(index)}d` };
    yield fact(document, "viewer", { type: "user", id: `${name(index % 1_000)}u` });
  }
}

function name(index: number): string {
  return (Math.imul(index, 0x9e37_79b1) >>> 0).toString(36);
}

async function untilRemoved(url: string): Promise<void> {
  for (;;) {
    const left = await onServer(url, (sql) => sql`select from removed_tenants`);
    if (left.length === 0) return;
    await wait(20);
  }
}

function lifeTable(results: readonly LifeResult[]): string {
  const half = (rate: string): readonly string[] => [rate, "p50 ms", "p99"];
  const headings = [
    "beside the checks",
    "seconds",
    ...half("idle/s"),
    ...half("busy/s"),
    "p99 ratio",
  ];
  const cells = ({ perSecond, p50, p99 }: Measurement): readonly string[] => [
    figure(perSecond),
    figure(p50),
    figure(p99),
  ];
  return formatTable(
    headings,
    results.map(({ work, seconds, idle, busy, ratio }) => [
      work,
      figure(seconds),
      ...cells(idle),
      ...cells(busy),
      figure(ratio),
    ]),
  );
}
