import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import postgres from "postgres";

import { createTestDatabase } from "../support/database.ts";
import { trialsOf } from "./cases.ts";
import { draw, type Draw } from "./draw.ts";
import { instrument } from "./instrument.ts";
import type { Mutant } from "./mutant.ts";
import { OtherTests } from "./other-tests.ts";
import { readEquivalents, reportText } from "./report.ts";
import { Results } from "./results.ts";
import { enginesFor, type Fate, isKilled, MutantRuns } from "./run-mutants.ts";

export interface MutateOptions {
  readonly folders: readonly string[];
  readonly sample: number;
  readonly seed: number;
  readonly cases: number;
  readonly say: (text: string) => void;
  /** Aborted: the run ends after the mutant at hand, and a later one goes on. */
  readonly signal: AbortSignal;
}

const root = join(import.meta.dirname, "..", "..");

const caseSeed = 1;

/** Draws faults of each folder, asks the differential tests of each, and says which survive. */
export async function mutate(options: MutateOptions): Promise<void> {
  const { folders, seed, sample, say, signal } = options;
  const equivalents = readEquivalents();
  const equivalentKeys = new Set(equivalents.map(({ key }) => key));
  const results = new Results(root, `${caseSeed} ${options.cases}`, equivalentKeys);
  const draws: Draw[] = [];
  for (const folder of folders) draws.push(await draw(root, { folder, seed, sample }));
  const pending = draws
    .flatMap(({ mutants }) => mutants)
    .filter((mutant) => results.of(mutant) === undefined)
    .map((mutant, id) => ({ ...mutant, id }));
  if (pending.length > 0) {
    await runAll(pending, draws, { ...options, results, equivalents: equivalentKeys });
  }
  if (signal.aborted) say("ended before all were asked; the next run goes on");
  for (const one of draws) {
    const known = one.mutants.flatMap((mutant) => results.of(mutant) ?? []);
    say(reportText(one, known, equivalents));
  }
}

async function runAll(
  mutants: readonly Mutant[],
  draws: readonly Draw[],
  {
    cases,
    say,
    signal,
    results,
    equivalents,
  }: MutateOptions & {
    readonly results: Results;
    readonly equivalents: ReadonlySet<string>;
  },
): Promise<void> {
  const database = await createTestDatabase();
  await limitStatements(database.url);
  const folder = mkdtempSync(join(tmpdir(), "pemba-mutate-"));
  const instrumented = join(folder, "instrumented.json");
  writeFileSync(instrumented, JSON.stringify(instrumentedSources(mutants, draws)));
  const told = join(folder, "told.jsonl");
  const engines = new Set(mutants.flatMap(({ file }) => enginesFor(file)));
  const asked = { seed: caseSeed, count: cases, url: database.url };
  const runs = new MutantRuns(
    { options: { ...asked, told }, instrumented },
    trialsOf(asked).filter(({ engine }) => engines.has(engine)),
  );
  const others = await OtherTests.start(
    draws.map(({ folder: one }) => one),
    instrumented,
  );
  try {
    const { ms, unsound } = await runs.runSound();
    say(`${mutants.length} faults to ask; all trials without one take ${Math.round(ms)} ms`);
    for (const trial of unsound) say(`left out, since it fails without a fault: ${trial}`);
    for (const [place, mutant] of mutants.entries()) {
      const begun = performance.now();
      const fate = await fateOf(mutant, runs, others, equivalents);
      if (signal.aborted) return;
      const ms = Math.round(performance.now() - begun);
      results.add(mutant, fate, ms);
      const where = `${mutant.file}:${mutant.line} ${mutant.operator}`;
      say(`${place + 1}/${mutants.length} ${fate.kind}: ${where} (${ms} ms)`);
    }
  } finally {
    await runs.close();
    await others.close();
    rmSync(folder, { recursive: true });
    await database.drop();
  }
}

/** Asks the differential tests, and the others when these see nothing of what could be seen. */
async function fateOf(
  mutant: Mutant,
  runs: MutantRuns,
  others: OtherTests,
  equivalents: ReadonlySet<string>,
): Promise<Fate> {
  const fate = await runs.run(mutant);
  if (isKilled(fate) || equivalents.has(mutant.key)) return fate;
  const failed = await others.failure(folderOf(mutant.file), mutant.id);
  return failed === undefined ? fate : { kind: "killed beside", by: failed };
}

function folderOf(file: string): string {
  return file.split("/").slice(0, 2).join("/");
}

/** A search without end outlives the worker that asked for it, and would fill the disk. */
async function limitStatements(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  const database = sql(new URL(url).pathname.slice(1));
  await sql`alter database ${database} set statement_timeout = '20s'`;
  await sql`alter database ${database} set temp_file_limit = '1GB'`;
  await sql.end();
}

function instrumentedSources(
  mutants: readonly Mutant[],
  draws: readonly Draw[],
): Readonly<Record<string, string>> {
  const byFile = Map.groupBy(mutants, ({ file }) => file);
  const sources = new Map(draws.flatMap((one) => [...one.sources]));
  return Object.fromEntries(
    [...byFile].map(([file, ones]) => [file, instrument(sources.get(file) ?? "", ones)]),
  );
}
