import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { alone } from "../test/support/alone.ts";

/** Test files that share a process. */
export interface Batch {
  /** A word for the output, unique in a run. */
  readonly name: string;
  readonly paths: readonly string[];
}

/** A process has so many files at most: one that ends early takes the rest of its files along. */
const maxFiles = 40;

/**
 * Folders of `test/` whose files take longest, in the order in which they start: nothing long is left
 * when the other processes have nothing more to do. The files of the others share processes.
 */
const slowFolders = [
  "cli",
  "store",
  "differential",
  "sql-interface",
  "scenarios",
  "http",
  "grpc",
  "reference",
  "telemetry",
  "intake",
  "transport",
  "sql",
];

const others = "others";

const program = resolve("test/support/run-batch.ts");

/** Distributes test files to processes, those of a slow folder together; slow ones first. */
export function batchesOf(paths: readonly string[]): readonly Batch[] {
  const byGroup = Map.groupBy(paths.toSorted(), groupOf);
  return [...slowFolders, others].flatMap((group) => {
    const files = byGroup.get(group) ?? [];
    const single = files.filter((path) => path in alone);
    const shared = files.filter((path) => !(path in alone));
    const count = Math.ceil(shared.length / maxFiles);
    return [
      ...Array.from({ length: count }, (_, index) => ({
        name: `${group}-${index + 1}`,
        // Neighbours by name are of one kind, often all slow: they go to different processes.
        paths: shared.filter((_path, place) => place % count === index),
      })),
      ...single.map((path, index) => ({ name: `${group}-alone-${index + 1}`, paths: [path] })),
    ];
  });
}

/** Programs for Node's test runner, one for each batch, in a temporary folder. */
export interface BatchPrograms {
  /** Node's runner starts files in the order of their names, which is the order of the batches. */
  readonly pattern: string;
  readonly remove: () => Promise<void>;
}

/** Makes the programs that run the files of each batch. */
export async function makePrograms(batches: readonly Batch[]): Promise<BatchPrograms> {
  const folder = await mkdtemp(join(tmpdir(), "pemba-batches-"));
  const named = batches.map(
    ({ name, paths }, index) => [`${String(index).padStart(3, "0")}-${name}`, paths] as const,
  );
  await writeFile(join(folder, "batches.json"), JSON.stringify(Object.fromEntries(named)));
  for (const [name] of named) await symlink(program, join(folder, `${name}.ts`));
  return {
    pattern: join(folder, "*.ts"),
    remove: async () => await rm(folder, { recursive: true }),
  };
}

/** The slow folder that the file is in, or `others`. */
function groupOf(path: string): string {
  const [, folder = ""] = path.split("/");
  return slowFolders.includes(folder) ? folder : others;
}
