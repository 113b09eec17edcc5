import { must } from "../src/base/assert.ts";
import type { Store } from "../src/store/store.ts";
import { checkThrough } from "../test/data/ask-store.ts";
import type { Dataset, QuestionClass } from "../test/data/dataset.ts";
import { groupGraphs } from "../test/data/group-graphs.ts";
import { withHeavySubject } from "../test/data/heavy-subject.ts";
import { amongUnrelated, withMoreRelations } from "../test/data/variants.ts";
import { measureInTurn, type Measurement, type Side } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase, type LoadedData, type LoadedDatabase } from "./server.ts";
import { countBuffers } from "./shapes/buffers.ts";
import { makeHistory } from "./shapes/history.ts";
import { measurePlanning, type PlanningResult } from "./shapes/planning.ts";
import { openStore } from "./store.ts";

export interface ShapeBenchOptions {
  /** For each class of questions in each shape, all runs together. */
  readonly seconds: number;
  readonly runs: number;
  readonly keep: boolean;
}

/**
 * How much longer a check takes in one shape than in another, by the lower quartiles of both: what
 * else the machine does reaches into the median before it reaches them. Of the runs, the one whose
 * ratio is the median.
 */
export interface ShapeResult {
  readonly shape: string;
  readonly questions: string;
  readonly base: Measurement;
  readonly shaped: Measurement;
  readonly ratio: number;
  /** The ratio that is wanted at most. */
  readonly target: number;
  /** That each check looks at. */
  readonly buffers: { readonly base: number; readonly shaped: number };
}

/** A data set that is asked. */
interface Opened {
  readonly store: Store;
  readonly classes: readonly QuestionClass[];
  /** That a check looks at, by class. */
  readonly buffers: ReadonlyMap<string, number>;
}

interface CountedSide extends Side {
  readonly buffers: number;
}

/** The second side is the shaped one. */
interface Comparison {
  readonly shape: string;
  readonly questions: string;
  readonly sides: readonly [CountedSide, CountedSide];
  readonly target: number;
}

const cyclesTarget = 2;
const invarianceTarget = 1.2;

/**
 * Measures what must not matter: cycles among groups, unrelated tuples, unrelated relations, what
 * else the subject may do, deleted versions; and that nothing is planned any more once a statement is known.
 */
export async function benchShapes(
  server: BenchServer,
  base: Dataset,
  options: ShapeBenchOptions,
  print: (line: string) => void,
): Promise<{ readonly shapes: readonly ShapeResult[]; readonly planning: PlanningResult }> {
  const loaded: LoadedDatabase[] = [];
  const stores: Store[] = [];
  const open = async (data: LoadedData & Pick<Dataset, "classes">): Promise<Opened> => {
    const database = await loadDatabase(server, data, print);
    loaded.push(database);
    const buffers = await countBuffers(database.url, data.classes);
    const store = await openStore({ url: database.url, connections: 1 });
    stores.push(store);
    return { store, classes: data.classes, buffers };
  };
  try {
    const comparisons = await openComparisons(base, open);
    const shapes = await measureComparisons(comparisons, options);
    const first = must(loaded[0], "something was loaded");
    const planning = await measurePlanning(first.url, base.classes);
    print(`\n${shapeTable(shapes)}\n\n${planningText(planning)}`);
    return { shapes, planning };
  } finally {
    for (const store of stores) await store.close();
    if (!options.keep) for (const database of loaded) await database.drop();
  }
}

async function openComparisons(
  base: Dataset,
  open: (data: LoadedData & Pick<Dataset, "classes">) => Promise<Opened>,
): Promise<readonly Comparison[]> {
  const opened = await open(base);
  const variants = [
    { shape: "100x unrelated tuples", opened: await open(amongUnrelated(base)) },
    {
      shape: "200 unrelated relations",
      opened: await open(withMoreRelations(base, "document")),
    },
    {
      shape: "ten deleted versions",
      opened: await open({ ...base, name: `${base.name}_with_history`, afterLoad: makeHistory }),
    },
  ];
  const heavy = await open(withHeavySubject(base));
  const graphs = await open(groupGraphs);
  const graphSide = (name: string): CountedSide => sideOf(graphs, name);
  return [
    ...["allowed", "denied"].map((answer): Comparison => ({
      shape: "cycles among 400 groups",
      questions: answer,
      sides: [graphSide(`acyclic ${answer}`), graphSide(`cyclic ${answer}`)],
      target: cyclesTarget,
    })),
    ...["denied", "allowed"].map((answer): Comparison => ({
      shape: "subject with 100,000 grants",
      questions: answer,
      sides: [sideOf(heavy, `light ${answer}`), sideOf(heavy, `heavy ${answer}`)],
      target: invarianceTarget,
    })),
    ...variants.flatMap((variant) =>
      base.classes.map(({ name }): Comparison => ({
        shape: variant.shape,
        questions: name,
        sides: [sideOf(opened, name), sideOf(variant.opened, name)],
        target: invarianceTarget,
      })),
    ),
  ];
}

async function measureComparisons(
  comparisons: readonly Comparison[],
  { seconds, runs }: ShapeBenchOptions,
): Promise<readonly ShapeResult[]> {
  const results: ShapeResult[] = [];
  for (const { shape, questions, sides, target } of comparisons) {
    const buffers = { base: sides[0].buffers, shaped: sides[1].buffers };
    const measured: ShapeResult[] = [];
    for (let run = 0; run < runs; run++) {
      const [base, shaped] = await measureInTurn(sides, seconds / runs);
      const ratio = shaped.p25 / base.p25;
      measured.push({ shape, questions, base, shaped, ratio, target, buffers });
    }
    const sorted = measured.toSorted((a, b) => a.ratio - b.ratio);
    results.push(must(sorted[Math.floor(runs / 2)], "there is a run"));
  }
  return results;
}

function sideOf({ store, classes, buffers }: Opened, name: string): CountedSide {
  const found = must(
    classes.find((each) => each.name === name),
    `there is no class ${name}`,
  );
  return {
    ask: (question) => checkThrough(store, question),
    questions: found.questions,
    buffers: must(buffers.get(name), "every class was counted"),
  };
}

function shapeTable(results: readonly ShapeResult[]): string {
  return formatTable(
    ["shape", "questions", "base p25 ms", "p25 ms", "ratio", "wanted", "base buffers", "buffers"],
    results.map(({ shape, questions, base, shaped, ratio, target, buffers }) => [
      shape,
      questions,
      figure(base.p25),
      figure(shaped.p25),
      figure(ratio),
      `<= ${target}${ratio > target ? " MISSED" : ""}`,
      ...[buffers.base, buffers.shaped].map(figure),
    ]),
  );
}

function planningText({ checks, statements, customPlans, genericRuns }: PlanningResult): string {
  return (
    `planning in steady state: ${checks} checks by ${statements} prepared statements, ` +
    `${genericRuns} runs of a plan made before, ${customPlans} planned anew (wanted: 0)`
  );
}
