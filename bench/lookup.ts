import postgres from "postgres";

import { must } from "../src/base/assert.ts";
import { compileSchemaText } from "../src/language/compile.ts";
import { sessionSettings } from "../src/store/postgres/connect/connection-route.ts";
import type { Store } from "../src/store/store.ts";
import { lookUpThrough } from "../test/data/ask-store.ts";
import {
  candidateEntities,
  type CandidateOptions,
  candidateSubjects,
} from "../test/data/candidate-evaluator.ts";
import type { Dataset, Lookup } from "../test/data/dataset.ts";
import type { LookupClass } from "../test/data/nested-lookups.ts";
import { openWalkEvaluator } from "../test/data/walk-evaluator.ts";
import { type Measurement, measureWork } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import type { LoadedDatabase } from "./server.ts";
import { openStore } from "./store.ts";

export interface LookupBenchOptions {
  /** Of each class by each of the two. */
  readonly seconds: number;
}

/** A page of a class of lookups. */
export interface LookupResult {
  readonly lookups: string;
  /** The number of the page, from 1. */
  readonly page: number;
  /** Ids on it, of the first lookup of the class. */
  readonly found: number;
  readonly pemba: Measurement;
  readonly candidates: Measurement;
  /** Of the medians: how many times as long the baseline takes. */
  readonly ratio: number;
  /** That Pemba sends for a page. */
  readonly statements: number;
}

/** The whole of one lookup beside its first page, in milliseconds. */
export interface WholeResult {
  readonly lookups: string;
  readonly found: number;
  readonly firstPage: number;
  readonly whole: number;
}

export interface LookupBenchResult {
  readonly pages: readonly LookupResult[];
  readonly wholes: readonly WholeResult[];
}

const pageSize = 100;
const batchSize = 10_000;
const connections = 8;

/** Measures pages of lookups by Pemba and by the baseline, one at a time, and whole ones by Pemba. */
export async function benchLookups(
  dataset: Dataset,
  classes: readonly LookupClass[],
  database: LoadedDatabase,
  options: LookupBenchOptions,
  print: (line: string) => void,
): Promise<LookupBenchResult> {
  let sent = 0;
  const { url } = database;
  const counting = await openStore({ url, connections, onStatement: () => (sent += 1) });
  const store = await openStore({ url, connections });
  const baseline = openBaseline(dataset, database);
  const pages: LookupResult[] = [];
  const wholes: WholeResult[] = [];
  try {
    for (const { name, lookups } of classes) {
      for (const page of [1, 100]) {
        const places = await placesOf(store, lookups, page);
        if (places.length === 0) continue;
        print(`${name}, page ${page} ...`);
        const found = await assertSame(store, baseline, places);
        await readPlace(counting, must(places[0], "there is a place"));
        sent = 0;
        for (const place of places) await readPlace(counting, place);
        const statements = sent / places.length;
        const pemba = await measurePlaces(places, options, (place) => readPlace(store, place));
        const candidates = await measurePlaces(places, options, (place) =>
          candidatePage(baseline, place),
        );
        const ratio = candidates.p50 / pemba.p50;
        pages.push({ lookups: name, page, found, pemba, candidates, ratio, statements });
      }
      wholes.push(await measureWhole(store, name, must(lookups[0], "a class has lookups")));
    }
  } finally {
    await Promise.all([store.close(), counting.close(), baseline.walk.close(), baseline.sql.end()]);
  }
  print(`\n${pageTable(pages)}\n\n${wholeTable(wholes)}`);
  return { pages, wholes };
}

/** A lookup, and behind which id its page begins. */
interface Place {
  readonly lookup: Lookup;
  readonly after: string | undefined;
}

function openBaseline({ schema }: Dataset, { url, tenant }: LoadedDatabase): CandidateOptions {
  const compiled = compileSchemaText(schema);
  return {
    sql: postgres(url, {
      max: connections,
      fetch_types: false,
      connection: { ...sessionSettings },
    }),
    tenant,
    schema: compiled,
    checks: connections,
    walk: openWalkEvaluator({
      url,
      tenant,
      schema: compiled,
      connections,
      readsHead: false,
      onStatement: undefined,
    }),
  };
}

/** Where the page of that number begins, for the lookups that have so many. */
async function placesOf(
  store: Store,
  lookups: readonly Lookup[],
  page: number,
): Promise<readonly Place[]> {
  if (page === 1) return lookups.map((lookup) => ({ lookup, after: undefined }));
  const places: Place[] = [];
  for (const lookup of lookups.slice(0, 1)) {
    const { next } = await lookUpThrough(store, lookup, { limit: pageSize * (page - 1) });
    if (next !== undefined) places.push({ lookup, after: next });
  }
  return places;
}

/** The baseline must find what Pemba finds; gives how much that is for the first. */
async function assertSame(
  store: Store,
  baseline: CandidateOptions,
  places: readonly Place[],
): Promise<number> {
  const sizes: number[] = [];
  for (const place of places.slice(0, 5)) {
    const ids = await readPlace(store, place);
    const theirs = await candidatePage(baseline, place);
    if (ids.join(" ") !== theirs.join(" ")) {
      throw new Error(
        `the two differ on ${JSON.stringify(place)}: ${ids.length}, ${theirs.length}`,
      );
    }
    sizes.push(ids.length);
  }
  return must(sizes[0], "a class has lookups");
}

async function measurePlaces(
  places: readonly Place[],
  { seconds }: LookupBenchOptions,
  readOne: (place: Place) => Promise<unknown>,
): Promise<Measurement> {
  const work = async (nth: number): Promise<void> => {
    await readOne(must(places[nth % places.length], "a class has lookups"));
  };
  return await measureWork(work, { inFlight: 1, seconds });
}

async function measureWhole(store: Store, name: string, lookup: Lookup): Promise<WholeResult> {
  const started = performance.now();
  let page = await lookUpThrough(store, lookup, { limit: pageSize });
  const firstPage = performance.now() - started;
  const began = performance.now();
  page = await lookUpThrough(store, lookup, { limit: batchSize });
  let found = page.items.length;
  while (page.next !== undefined) {
    const { next, snapToken, schemaVersion } = page;
    page = await lookUpThrough(store, lookup, {
      after: next,
      limit: batchSize,
      snapToken,
      schemaVersion,
    });
    found += page.items.length;
  }
  return { lookups: name, found, firstPage, whole: performance.now() - began };
}

async function readPlace(store: Store, { lookup, after }: Place): Promise<readonly string[]> {
  return (await lookUpThrough(store, lookup, { after, limit: pageSize })).items;
}

async function candidatePage(
  baseline: CandidateOptions,
  { lookup, after }: Place,
): Promise<readonly string[]> {
  const page = { after, limit: pageSize };
  if (lookup.kind === "entities") {
    const subject = { type: "user", id: lookup.user, relation: "" };
    return await candidateEntities(baseline, { ...lookup, subject }, page);
  }
  return await candidateSubjects(baseline, { ...lookup, subjectType: "user" }, page);
}

function pageTable(results: readonly LookupResult[]): string {
  const headings = ["lookups", "page", "found", "pemba p50 ms", "p99", "stmts"];
  return formatTable(
    [...headings, "candidates p50 ms", "p99", "ratio"],
    results.map(({ lookups, page, found, pemba, candidates, ratio, statements }) => [
      lookups,
      String(page),
      String(found),
      figure(pemba.p50),
      figure(pemba.p99),
      figure(statements),
      figure(candidates.p50),
      figure(candidates.p99),
      figure(ratio),
    ]),
  );
}

function wholeTable(results: readonly WholeResult[]): string {
  return formatTable(
    ["lookups", "all found", `first ${pageSize} ms`, "all ms"],
    results.map(({ lookups, found, firstPage, whole }) => [
      lookups,
      found.toLocaleString("en"),
      figure(firstPage),
      figure(whole),
    ]),
  );
}
