import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

import { findFaults, siblingsOf } from "./find.ts";
import { applied, type Candidate, type Mutant } from "./mutant.ts";

export interface Population {
  /** In the order in which they are drawn. */
  readonly drawn: readonly Omit<Mutant, "id">[];
  readonly performanceOnly: number;
}

/** The sources of a folder of the repository, by their paths from its root. */
export function sourcesOf(root: string, folder: string): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .toSorted()
      .map((path) => posix.join(folder, path.replaceAll("\\", "/")))
      .map((path) => [path, readFileSync(join(root, path), "utf8")]),
  );
}

/**
 * All faults of a folder in a random order. Where a fault stands in it hangs on the seed and on what
 * the fault is, so that a change of one file leaves what is drawn of the others nearly as it was.
 */
export function population(
  sources: ReadonlyMap<string, string>,
  { seed, leftOut }: { readonly seed: number; readonly leftOut: ReadonlySet<string> },
): Population {
  const siblings = siblingsOf(sources);
  const ranked: { readonly rank: string; readonly mutant: Omit<Mutant, "id"> }[] = [];
  let performanceOnly = 0;
  for (const [file, source] of sources) {
    if (leftOut.has(file)) continue;
    const found = findFaults(file, source, siblings);
    performanceOnly += found.performanceOnly;
    const times = new Map<string, number>();
    for (const candidate of found.candidates) {
      const mutant = describe(file, source, candidate);
      const what = [file, mutant.operator, mutant.before, mutant.after].join("\n");
      const time = (times.get(what) ?? 0) + 1;
      times.set(what, time);
      const key = hash("sha256", `${what}\n${time}`).slice(0, 16);
      ranked.push({ rank: hash("sha256", `${seed}\n${key}`), mutant: { ...mutant, key } });
    }
  }
  const drawn = ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ mutant }) => mutant);
  return { drawn, performanceOnly };
}

function describe(file: string, source: string, candidate: Candidate): Omit<Mutant, "id" | "key"> {
  const start = source.lastIndexOf("\n", candidate.start - 1) + 1;
  const newline = source.indexOf("\n", candidate.end);
  const lines = { start, end: newline === -1 ? source.length : newline };
  return {
    ...candidate,
    file,
    line: source.slice(0, candidate.start).split("\n").length,
    before: source.slice(lines.start, lines.end).trim(),
    after: applied(source, candidate, lines).trim(),
  };
}
