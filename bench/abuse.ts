import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { startServing } from "../test/support/pemba.ts";
import { type Abuse, abuses } from "./abuse/abuses.ts";
import {
  type AbusedServer,
  type AbuseResult,
  type AbuseTimes,
  measureAbuse,
  wanted,
} from "./abuse/measure-abuse.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, createDatabase } from "./server.ts";

export interface AbuseOptions {
  /** Of the abuses; all without any. */
  readonly names: readonly string[];
  /** A part of the name of the engine. */
  readonly engine: string;
  /** Processes that serve on Postgres. From memory there is one. */
  readonly workers: number;
  readonly times: AbuseTimes;
}

export interface AbuseBenchResult {
  readonly abuses: readonly AbuseResult[];
  /** How many were not as they are wanted. */
  readonly missed: number;
}

/**
 * Abuses a server of its own for each abuse, on both engines, and shows what becomes of a neighbour
 * and of memory.
 */
export async function benchAbuse(
  server: BenchServer,
  { names, engine: part, workers, times }: AbuseOptions,
  print: (line: string) => void,
): Promise<AbuseBenchResult> {
  print("builds what is shipped ...");
  await promisify(execFile)("npm", ["run", "build"], { cwd: ownFolder });
  const database = await createDatabase(server, "pemba_bench_abuse");
  const results: AbuseResult[] = [];
  const engines = [
    { engine: "memory", databaseUrl: undefined, workers: 1 },
    { engine: "postgres", databaseUrl: database.url, workers },
  ];
  try {
    for (const each of engines.filter(({ engine }) => engine.includes(part))) {
      for (const abuse of chosen(names)) {
        print(`${each.engine}: ${abuse.about} ...`);
        const result = await onServer(each, async (served) => {
          return await measureAbuse(served, each.engine, { abuse, times });
        });
        tell(result, print);
        results.push(result);
      }
    }
  } finally {
    await database.drop();
  }
  return summed(results, print);
}

/** The same with a server that runs already. */
export async function benchAbuseOf(
  server: AbusedServer,
  { names, times }: Pick<AbuseOptions, "names" | "times">,
  print: (line: string) => void,
): Promise<AbuseBenchResult> {
  const results: AbuseResult[] = [];
  for (const abuse of chosen(names)) {
    print(`${server.url}: ${abuse.about} ...`);
    const result = await measureAbuse(server, "given", { abuse, times });
    tell(result, print);
    results.push(result);
  }
  return summed(results, print);
}

function chosen(names: readonly string[]): readonly Abuse[] {
  const unknown = names.find((name) => !abuses.some((each) => each.name === name));
  if (unknown !== undefined) {
    const known = abuses.map(({ name }) => name).join(", ");
    throw new Error(`there is no abuse ${unknown}, only ${known}`);
  }
  return abuses.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** The heap that Node takes where the manifest in `deploy` allows it a gibibyte. */
const heapOptions = "--max-old-space-size=512 --max-semi-space-size=16";

const ownFolder = fileURLToPath(new URL("..", import.meta.url));

/** Compiled: each process that runs the sources holds about 30 MiB more. */
const shippedMain = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Started as it is shipped, but for its rate limit, which would refuse nearly all. */
async function onServer<T>(
  { databaseUrl, workers }: { readonly databaseUrl: string | undefined; readonly workers: number },
  work: (server: AbusedServer) => Promise<T>,
): Promise<T> {
  const serving = startServing([`--server-workers=${workers}`], {
    main: shippedMain,
    env: {
      NODE_OPTIONS: heapOptions,
      SERVICE_SERVICE_WATCH_ENABLED: "true",
      ...(databaseUrl === undefined
        ? { SERVICE_DATABASE_ENGINE: "memory" }
        : { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: databaseUrl }),
    },
  });
  try {
    const { url, grpc } = await serving.addresses;
    return await work({ url, grpc, pid: serving.process.pid });
  } finally {
    serving.process.kill("SIGKILL");
    await serving.finished;
  }
}

function tell(result: AbuseResult, print: (line: string) => void): void {
  const texts = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([text, count]) => `${text}: ${count}`)
      .join(", ");
  print(`  of the abuser: ${texts(result.outcomes)}`);
  const failures = texts(result.failures);
  if (failures !== "") print(`  of the neighbour: ${failures}`);
  const memory = result.samples
    .filter((_, index) => index % 4 === 0)
    .map(({ mebibytes }) => Math.round(mebibytes));
  if (memory.length > 0) print(`  MiB every two seconds: ${memory.join(" ")}`);
  print(`${tableOf([result])}\n`);
}

function summed(results: readonly AbuseResult[], print: (line: string) => void): AbuseBenchResult {
  const missed = results.filter(({ isMissed }) => isMissed).length;
  const limits = `p99 at most ${wanted.p99} ms, no failure, ${wanted.peak} MiB at most, ${wanted.end} at the end`;
  print(`\n${tableOf(results)}\n\nwanted: ${limits}\nmissed: ${missed}`);
  return { abuses: results, missed };
}

function tableOf(results: readonly AbuseResult[]): string {
  return formatTable(
    [
      "abuse",
      "p99 before",
      "p50",
      "p99",
      "worst",
      "failed",
      "p99 after",
      "MiB before",
      "peak",
      "end",
      "",
    ],
    results.map(({ engine, name, before, during, after, memory, isMissed }) => [
      `${engine}: ${name}`,
      figure(before.p99),
      figure(during.p50),
      figure(during.p99),
      figure(during.max),
      `${during.failed} of ${during.count}`,
      figure(after.p99),
      memory === undefined ? "" : figure(memory.before),
      memory === undefined ? "" : figure(memory.peak),
      memory === undefined ? "" : figure(memory.end),
      isMissed ? "missed" : "",
    ]),
  );
}
