import { fileURLToPath } from "node:url";

import { must } from "../src/base/assert.ts";
import {
  type Checkout,
  openCheckout,
  questionsOfBlock,
  type ServedCheckout,
  type Spent,
} from "./compare/checkout.ts";
import {
  type Asked,
  comparedClasses,
  type ComparedSection,
  datasetsOf,
} from "./compare/classes.ts";
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

/** What a class of questions costs the new checkout, to what it costs the old one. */
export interface CompareResult {
  readonly section: ComparedSection;
  readonly questions: string;
  readonly service: ComparedCost;
  readonly postgres: ComparedCost;
  readonly isMissed: boolean;
}

/** Of processor time; microseconds of a question. */
export interface ComparedCost {
  readonly old: number;
  readonly new: number;
  /** New to old: the median of the pairs, and each of them in order. */
  readonly ratio: number;
  readonly ratios: readonly number[];
}

const wantedRatio = 1.05;

const ownFolder = fileURLToPath(new URL("..", import.meta.url));

const names = ["old", "new"] as const;

type Name = (typeof names)[number];

/**
 * Compares the processor time of two checkouts: both serve data of their own in processes that the
 * same client asks the same questions, in turn.
 */
export async function benchCompare(
  server: BenchServer,
  options: CompareOptions,
  print: (line: string) => void,
): Promise<readonly CompareResult[]> {
  const datasets = datasetsOf(options.sections, options.isSmall);
  const classes = comparedClasses(options.sections, options.isSmall, datasets).filter(({ name }) =>
    name.includes(options.only),
  );
  const checkouts = new Map<Name, Checkout>();
  const spent: Record<Name, Spent[][]> = { old: [], new: [] };
  try {
    for (const [name, folder] of [
      ["old", options.old],
      ["new", ownFolder],
    ] as const) {
      print(`${name}: loads ${folder} ...`);
      checkouts.set(name, await openCheckout(server, { name, folder, datasets }));
    }
    print("counts what is asked ...");
    const counts = await countsOf(
      must(checkouts.get("old"), "it was opened"),
      classes,
      options.seconds,
    );
    for (let pair = 0; pair < options.pairs; pair++) {
      print(`pair ${pair + 1} of ${options.pairs} ...`);
      const measured = await measurePair(checkouts, classes, counts);
      for (const name of names) spent[name].push(measured[name]);
    }
  } finally {
    for (const checkout of checkouts.values()) await checkout.drop();
  }
  const results = resultsOf(classes, spent);
  print(`\n${compareTable(results)}`);
  return results;
}

/** Part of the questions that are asked of a process before any is measured, all classes in turn. */
const warmUpPart = 1 / 3;

/** How many questions of each class are asked, of both: what they cost when they come again. */
async function countsOf(
  checkout: Checkout,
  classes: readonly Asked[],
  seconds: number,
): Promise<readonly number[]> {
  const served = await checkout.serve();
  try {
    for (const asked of classes) await served.count(asked, seconds * warmUpPart);
    const counts: number[] = [];
    for (const asked of classes) counts.push(await served.count(asked, seconds));
    return counts;
  } finally {
    await served.stop();
  }
}

/**
 * In a process of each, which have their turns block by block, so that what else the machine does hits
 * both alike. Microseconds of a question.
 */
async function measurePair(
  checkouts: ReadonlyMap<Name, Checkout>,
  classes: readonly Asked[],
  counts: readonly number[],
): Promise<Record<Name, Spent[]>> {
  const served = new Map<Name, ServedCheckout>();
  const measured: Record<Name, Spent[]> = { old: [], new: [] };
  try {
    for (const [name, checkout] of checkouts) served.set(name, await checkout.serve());
    for (const [nth, asked] of classes.entries()) {
      await askInTurn(served, asked, must(counts[nth], "every class was counted") * warmUpPart);
    }
    for (const [nth, asked] of classes.entries()) {
      const both = await askInTurn(served, asked, must(counts[nth], "every class was counted"));
      for (const name of names) measured[name].push(both[name]);
    }
    return measured;
  } finally {
    for (const { stop } of served.values()) await stop();
  }
}

async function askInTurn(
  served: ReadonlyMap<Name, ServedCheckout>,
  asked: Asked,
  count: number,
): Promise<Record<Name, Spent>> {
  const sums: Record<Name, Spent> = {
    old: { service: 0, postgres: 0 },
    new: { service: 0, postgres: 0 },
  };
  const blocks = Math.ceil(count / questionsOfBlock);
  const ofOne = 1_000_000 / (blocks * questionsOfBlock);
  for (let block = 0; block < blocks; block++) {
    for (const name of block % 2 === 0 ? names : names.toReversed()) {
      const { ask } = must(served.get(name), "both are served");
      const { service, postgres } = await ask(asked, block * questionsOfBlock, questionsOfBlock);
      const sum = sums[name];
      sums[name] = {
        service: sum.service + service * ofOne,
        postgres: sum.postgres + postgres * ofOne,
      };
    }
  }
  return sums;
}

/** What all classes of a section cost together stands behind them. */
function resultsOf(
  classes: readonly Asked[],
  spent: Readonly<Record<Name, readonly (readonly Spent[])[]>>,
): readonly CompareResult[] {
  const places = classes.map((_, nth) => nth);
  const sections = [...new Set(classes.map(({ section }) => section))];
  return sections.flatMap((section) => {
    const own = places.filter((nth) => classes[nth]?.section === section);
    return [
      ...own.map((nth) => resultOf(section, must(classes[nth], "it is one").name, [nth], spent)),
      resultOf(section, "(all of them)", own, spent),
    ];
  });
}

/** Of one class, or of several together. */
function resultOf(
  section: ComparedSection,
  questions: string,
  places: readonly number[],
  spent: Readonly<Record<Name, readonly (readonly Spent[])[]>>,
): CompareResult {
  const costOf = (part: keyof Spent): ComparedCost => {
    const of = (side: Name): readonly number[] =>
      spent[side].map((run) =>
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
  return { section, questions, service, postgres, isMissed };
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
      "questions",
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
      result.questions,
      ...cells(result.service),
      ...cells(result.postgres),
      result.isMissed ? "MISSED" : "",
    ]),
  );
}
