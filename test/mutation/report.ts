import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Draw } from "./draw.ts";
import type { Result } from "./results.ts";
import { isKilled } from "./run-mutants.ts";

/** A survivor that was read and changes no answer. The text is for who reads it again. */
export interface Equivalent {
  readonly key: string;
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly why: string;
}

export function readEquivalents(): readonly Equivalent[] {
  const path = join(import.meta.dirname, "equivalent.json");
  const equivalents: Equivalent[] = JSON.parse(readFileSync(path, "utf8"));
  return equivalents;
}

/** What a folder's sample came to, as text: the numbers, then every survivor. */
export function reportText(
  { folder, invalid, population, performanceOnly }: Draw,
  results: readonly Result[],
  equivalents: readonly Equivalent[],
): string {
  const whyOf = (result: Result): string | undefined =>
    equivalents.find(({ key }) => key === result.key)?.why;
  const alive = results.filter(({ fate }) => !isKilled(fate));
  const judged = alive.filter((one) => whyOf(one) !== undefined);
  const survivors = alive.filter((one) => whyOf(one) === undefined);
  const count = (kind: Result["fate"]["kind"]): number =>
    results.filter(({ fate }) => fate.kind === kind).length;
  const differential = count("killed") + count("timed out");
  const counted = results.length - judged.length;
  const unreached = survivors.filter(({ fate }) => fate.kind === "not reached").length;
  const seconds = Math.round(results.reduce((sum, { ms }) => sum + ms, 0) / 1000);
  return [
    `${folder}: ${results.length} of ${population} faults asked in ${seconds} s`,
    `  killed ${count("killed")}, timed out ${count("timed out")}, ` +
      `killed by other tests ${count("killed beside")}, ` +
      `survived ${survivors.length} (${unreached} not reached), equivalent ${judged.length}`,
    `  left out: ${invalid} that the type checker refuses, ` +
      `${performanceOnly} places that only make a statement slow or fast`,
    `  kill rate ${rateText(counted - survivors.length, counted)}`,
    `  of the differential tests alone ${rateText(differential, counted)}`,
    ...survivors.toSorted(byPlace).map((one) => survivorText(one)),
    ...(judged.length === 0 ? [] : ["  judged equivalent:"]),
    ...judged.toSorted(byPlace).map((one) => survivorText(one, whyOf(one))),
    "",
  ].join("\n");
}

function rateText(killed: number, counted: number): string {
  const { low, high } = wilson(killed, counted);
  const rate = percent(killed / Math.max(counted, 1));
  return `${rate}, 95 % interval ${percent(low)} to ${percent(high)}`;
}

function survivorText(
  { key, file, line, operator, before, after, fate }: Result,
  why?: string,
): string {
  const unreached = fate.kind === "not reached" ? ", not reached" : "";
  const lines = (text: string, sign: string): string[] =>
    text.split("\n").map((each) => `      ${sign} ${each.trim()}`);
  return [
    `    ${file}:${line} ${operator}${unreached} (${key})${why === undefined ? "" : `: ${why}`}`,
    ...lines(before, "-"),
    ...lines(after, "+"),
  ].join("\n");
}

function byPlace(a: Result, b: Result): number {
  return a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** Wilson's interval of a share, at 95 %. */
export function wilson(hits: number, all: number): { readonly low: number; readonly high: number } {
  if (all === 0) return { low: 0, high: 1 };
  const z = 1.959_964;
  const share = hits / all;
  const scale = 1 + z ** 2 / all;
  const middle = (share + z ** 2 / (2 * all)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
