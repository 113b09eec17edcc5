import { fileURLToPath } from "node:url";

import { must } from "../src/base/assert.ts";
import type { Asked, ComparedSection } from "./compare/asked.ts";
import { type Checkout, openCheckout, type Spent } from "./compare/checkout.ts";
import { comparedGroups, type ComparedGroup } from "./compare/classes.ts";
import { type BySide, measurePairs, type Side, sides } from "./compare/pairs.ts";
import { medianOfNumbers } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import type { BenchServer } from "./server.ts";

export interface CompareOptions {
  /** The folder of the other checkout. */
  readonly old: string;
  readonly sections: readonly ComparedSection[];
  readonly isSmall: boolean;
  /** A part of the name of a class. */
  readonly only: string;
  /** Of processes. */
  readonly pairs: number;
  /** Of processor time, of each class in each process. */
  readonly seconds: number;
}

/** What a class of requests costs the new checkout, to what it costs the old one. */
export interface CompareResult {
  readonly section: ComparedSection;
  readonly requests: string;
  readonly service: ComparedCost;
  readonly postgres: ComparedCost;
  readonly isMissed: boolean;
}

/** Of processor time; microseconds of a request. */
export interface ComparedCost {
  readonly old: number;
  readonly new: number;
  /** New to old: the median of the pairs, and each of them in order. */
  readonly ratio: number;
  readonly ratios: readonly number[];
}

const wantedRatio = 1.05;

const ownFolder = fileURLToPath(new URL("..", import.meta.url));

/**
 * Compares the processor time of two checkouts: both serve data of their own in processes that get the
 * same requests of the same client, in turn.
 */
export async function benchCompare(
  server: BenchServer,
  options: CompareOptions,
  print: (line: string) => void,
): Promise<readonly CompareResult[]> {
  const results: CompareResult[] = [];
  for (const group of comparedGroups(options.sections, options)) {
    results.push(...(await compareGroup(server, group, options, print)));
  }
  print(`\n${compareTable(results)}`);
  return results;
}

async function compareGroup(
  server: BenchServer,
  group: ComparedGroup,
  { old, pairs, seconds }: CompareOptions,
  print: (line: string) => void,
): Promise<readonly CompareResult[]> {
  const folders = { old, new: ownFolder };
  const opened: Partial<Record<Side, Checkout>> = {};
  const open = async (name: Side): Promise<Checkout> => {
    print(`${name}: loads data to ${group.name} for ${folders[name]} ...`);
    const checkout = await openCheckout(server, { name, folder: folders[name], group });
    opened[name] = checkout;
    return checkout;
  };
  try {
    const checkouts = { old: await open("old"), new: await open("new") };
    const measured = await measurePairs(checkouts, group.classes, { pairs, seconds }, print);
    return resultsOf(group.classes, measured);
  } finally {
    for (const side of sides) await opened[side]?.drop();
  }
}

/** What all classes of a section cost together stands behind them. */
function resultsOf(
  classes: readonly Asked[],
  pairs: readonly BySide<readonly Spent[]>[],
): readonly CompareResult[] {
  const places = classes.map((_, nth) => nth);
  const sections = [...new Set(classes.map(({ section }) => section))];
  return sections.flatMap((section) => {
    const own = places.filter((nth) => classes[nth]?.section === section);
    return [
      ...own.map((nth) => resultOf(section, must(classes[nth], "it is one").name, [nth], pairs)),
      resultOf(section, "(all of them)", own, pairs),
    ];
  });
}

/** Of one class, or of several together. */
function resultOf(
  section: ComparedSection,
  requests: string,
  places: readonly number[],
  pairs: readonly BySide<readonly Spent[]>[],
): CompareResult {
  const costOf = (part: keyof Spent): ComparedCost => {
    const of = (side: Side): readonly number[] =>
      pairs.map(({ [side]: run }) =>
        places.reduce((sum, nth) => sum + must(run[nth], "every class was asked")[part], 0),
      );
    const [before, after] = [of("old"), of("new")];
    const ratios = after.map((cost, pair) => cost / must(before[pair], "they are pairs"));
    return {
      old: medianOfNumbers(before),
      new: medianOfNumbers(after),
      ratio: medianOfNumbers(ratios),
      ratios,
    };
  };
  const service = costOf("service");
  const postgres = costOf("postgres");
  const isMissed = service.ratio > wantedRatio || postgres.ratio > wantedRatio;
  return { section, requests, service, postgres, isMissed };
}

function compareTable(results: readonly CompareResult[]): string {
  const cells = ({ old, new: now, ratio, ratios }: ComparedCost): readonly string[] => [
    figure(old),
    figure(now),
    ratio.toFixed(3),
    `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  ];
  return formatTable(
    [
      "section",
      "requests",
      "service old us",
      "new us",
      "ratio",
      "of pairs",
      "Postgres old us",
      "new us",
      "ratio",
      "of pairs",
      `wanted: <= ${wantedRatio}`,
    ],
    results.map((result) => [
      result.section,
      result.requests,
      ...cells(result.service),
      ...cells(result.postgres),
      result.isMissed ? "MISSED" : "",
    ]),
  );
}
