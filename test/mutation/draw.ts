import { filesLeftOut } from "./left-out.ts";
import type { Mutant } from "./mutant.ts";
import { population, sourcesOf } from "./sample.ts";
import { refusedByTypes } from "./type-check.ts";

/** The faults of a folder that were drawn. */
export interface Draw {
  readonly folder: string;
  readonly mutants: readonly Omit<Mutant, "id">[];
  /** How many were passed over until then, since the type checker refuses them. */
  readonly invalid: number;
  /** How many faults there are to draw from, valid or not. */
  readonly population: number;
  readonly performanceOnly: number;
  readonly sources: ReadonlyMap<string, string>;
}

/** Draws as many valid faults of a folder as are wanted, or all. */
export async function draw(
  root: string,
  { folder, seed, sample }: { readonly folder: string; readonly seed: number; sample: number },
): Promise<Draw> {
  const sources = sourcesOf(root, folder);
  const leftOut = filesLeftOut(sourcesOf(root, "src"));
  const { drawn, performanceOnly } = population(sources, { seed, leftOut });
  const mutants: Omit<Mutant, "id">[] = [];
  let invalid = 0;
  let at = 0;
  while (mutants.length < sample && at < drawn.length) {
    // Some are refused, so more are looked at than are still wanted.
    const next = drawn.slice(at, at + (sample - mutants.length) * 2);
    at += next.length;
    const refused = await refusedByTypes(root, sources, next);
    for (const one of next) {
      if (mutants.length === sample) break;
      if (refused.has(one.key)) invalid += 1;
      else mutants.push(one);
    }
  }
  return { folder, mutants, invalid, population: drawn.length, performanceOnly, sources };
}
