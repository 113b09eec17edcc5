import { hostileSchemas } from "../test/data/hostile-schemas.ts";
import {
  askHostile,
  askNothing,
  type BoundsResult,
  boundsTables,
  type OthersResult,
  resultText,
} from "./bounds/hostile-questions.ts";
import { Target } from "./bounds/target.ts";
import { measureTrees, type TreesResult, treesTable } from "./bounds/trees.ts";
import { measureVersions, type VersionsResult, versionsTable } from "./bounds/versions.ts";
import { type BenchServer, createDatabase } from "./server.ts";

export interface BoundsBenchResult {
  readonly questions: readonly BoundsResult[];
  readonly others: readonly OthersResult[];
  readonly trees: readonly TreesResult[];
  readonly versions: readonly VersionsResult[];
  /** How many of all were not as they are wanted. */
  readonly missed: number;
}

/** Of the process that is asked about all schemas but versions. */
const heapMegabytes = 1_000;

const versionsName = "versions";
const treesName = "trees";

/**
 * Measures what schemas cost that are made to be costly, on both engines: themselves, others who ask
 * the same process meanwhile, and its memory. `only` is a part of `engine: schema`.
 */
export async function benchBounds(
  server: BenchServer,
  { only }: { readonly only: string },
  print: (line: string) => void,
): Promise<BoundsBenchResult> {
  const database = await createDatabase(server, "pemba_bench_bounds");
  const engines = [
    { engine: "memory", databaseUrl: undefined },
    { engine: "postgres", databaseUrl: database.url },
  ];
  const questions: BoundsResult[] = [];
  const others: OthersResult[] = [];
  const trees: TreesResult[] = [];
  const versions: VersionsResult[] = [];
  try {
    for (const { engine, databaseUrl } of engines) {
      const isAsked = (name: string): boolean => `${engine}: ${name}`.includes(only);
      const chosen = hostileSchemas().filter(({ name }) => isAsked(name));
      const target = new Target({ databaseUrl, heapMegabytes });
      try {
        if (chosen.length > 0) others.push(await askNothing(target, engine));
        for (const hostile of chosen) {
          print(`${engine}: ${hostile.name} ...`);
          const found = await askHostile(target, engine, hostile);
          questions.push(...found.results);
          others.push(found.others);
          for (const result of found.results) print(`  ${resultText(result)}`);
        }
        if (isAsked(treesName)) {
          print(`${engine}: ${treesName} ...`);
          trees.push(...(await measureTrees(target, engine)));
        }
      } finally {
        await target.close();
      }
      if (!isAsked(versionsName)) continue;
      print(`${engine}: ${versionsName} ...`);
      versions.push(await measureVersions(engine, databaseUrl));
    }
  } finally {
    await database.drop();
  }
  print(
    `\n${boundsTables(questions, others)}\n\n${treesTable(trees)}\n\n${versionsTable(versions)}`,
  );
  const missed = [...questions, ...others, ...trees, ...versions].filter(
    ({ isMissed }) => isMissed,
  ).length;
  print(`\nmissed: ${missed}`);
  return { questions, others, trees, versions, missed };
}
