import { chainVersion } from "../../test/data/hostile-schemas.ts";
import { figure, formatTable } from "../report.ts";
import { missed } from "./hostile-questions.ts";
import { Target } from "./target.ts";

/** What becomes of the heap while a tenant writes version after version. */
export interface VersionsResult {
  readonly engine: string;
  readonly heapMegabytes: number;
  /** That were written and asked about. */
  readonly versions: number;
  readonly seconds: number;
  /** How often the process had to be started again. */
  readonly deaths: number;
  /** Questions that were neither answered rightly nor refused. */
  readonly failed: number;
  /** Megabytes that are in use once garbage is collected, and after how many versions. */
  readonly heap: readonly { readonly versions: number; readonly megabytes: number }[];
  /** From the middle of the versions to the last one. */
  readonly growth: number;
  readonly isMissed: boolean;
}

const versionsWanted = 200;
const sampleEvery = 25;
const heapMegabytes = 450;

/** Megabytes: what is kept on purpose has limits, which half of the versions reach. */
const growthMax = 16;

const headings = [
  "engine",
  "heap of the process",
  "versions",
  "seconds",
  "deaths",
  "failed",
  "collected heap, MB",
  "growth MB",
  "wanted",
];

/** A process that takes longer is not what is wanted, and need not go on. */
const secondsMax = 90;

/**
 * Writes many versions of a chain, and asks a check and all permissions of each, of a process with a
 * small heap.
 */
export async function measureVersions(
  engine: string,
  databaseUrl: string | undefined,
): Promise<VersionsResult> {
  const target = new Target({ databaseUrl, heapMegabytes });
  const heap: { readonly versions: number; readonly megabytes: number }[] = [];
  let versions = 0;
  let failed = 0;
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1_000;
  try {
    for (; versions < versionsWanted && seconds() < secondsMax; versions++) {
      failed += await askVersion(target, versions);
      if ((versions + 1) % sampleEvery !== 0) continue;
      const { inspector } = await target.ready();
      const megabytes = (await inspector.collectedHeap()) / 2 ** 20;
      heap.push({ versions: versions + 1, megabytes });
    }
    const half = heap.find((sample) => sample.versions >= versionsWanted / 2);
    const growth = (heap.at(-1)?.megabytes ?? NaN) - (half?.megabytes ?? NaN);
    const deaths = target.starts - 1;
    const isWhole = versions === versionsWanted && deaths === 0 && failed === 0;
    const isMissed = !(isWhole && growth <= growthMax);
    const base = { engine, heapMegabytes, versions, seconds: seconds() };
    return { ...base, deaths, failed, heap, growth, isMissed };
  } finally {
    await target.close();
  }
}

export function versionsTable(results: readonly VersionsResult[]): string {
  return formatTable(
    headings,
    results.map((result) => [
      result.engine,
      `${result.heapMegabytes} MB`,
      String(result.versions),
      figure(result.seconds),
      String(result.deaths),
      String(result.failed),
      result.heap.map(({ megabytes }) => figure(megabytes)).join(" "),
      Number.isNaN(result.growth) ? "" : figure(result.growth),
      `${versionsWanted} versions, none died or failed, growth <= ${growthMax}${missed(result)}`,
    ]),
  );
}

/** How many of its questions failed. */
async function askVersion(target: Target, nth: number): Promise<number> {
  const hostile = chainVersion(nth);
  const written = await target.write(hostile);
  if (written.schema.kind !== "answered") return 1;
  let failed = 0;
  for (const { name, path, body, isRight } of hostile.questions) {
    if (name !== "check" && name !== "subject-permission") continue;
    const { asker } = await target.ready();
    const outcome = await asker.post(`${written.path}${path}`, body);
    const isGood =
      (outcome.kind === "answered" && isRight(outcome.body)) ||
      (outcome.kind === "refused" && outcome.status < 500);
    if (!isGood) failed += 1;
  }
  return failed;
}
