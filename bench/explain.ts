import { must } from "../src/base/assert.ts";
import { PembaError } from "../src/base/error.ts";
import { emptyContext, type Tuple } from "../src/base/tuple.ts";
import { compileSchemaText } from "../src/language/compile.ts";
import { createMemoryStore } from "../src/store/memory/store.ts";
import type { Store } from "../src/store/store.ts";
import { checkThrough, firstTenant } from "../test/data/ask-store.ts";
import type { Dataset, Fact, Question } from "../test/data/dataset.ts";
import { familySeconds, postmasterOf } from "./processor-time.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { openStore } from "./store.ts";

export interface ExplainOptions {
  /** For each class on each engine, checks and explanations together. */
  readonly seconds: number;
  readonly keep: boolean;
}

/** Processor microseconds of one question, those of the database included. */
export interface ExplainResult {
  readonly dataset: string;
  readonly questions: string;
  readonly engine: "memory" | "postgres";
  /** The answer of all questions of the class; undefined if they differ. */
  readonly allowed: boolean | undefined;
  readonly check: number;
  /** Undefined if more leads to the answer than is looked at for one. */
  readonly explain: number | undefined;
}

type AskedDataset = Dataset & { readonly depth?: number };

/** An explanation may take so many times the processor time of its check. */
const target = 5;

const factsPerWrite = 1_000;
const warmUps = 30;
/** The clock of the database's processes counts in hundredths of a second. */
const askedInTurn = 100;
const defaultDepth = 100;

/** Measures explanations beside the checks that they explain, in turn, on both engines. */
export async function benchExplain(
  server: BenchServer,
  datasets: readonly AskedDataset[],
  options: ExplainOptions,
  print: (line: string) => void,
): Promise<readonly ExplainResult[]> {
  const results: ExplainResult[] = [];
  for (const dataset of datasets) {
    const database = await loadDatabase(server, dataset, print);
    const postgres = await openStore({ url: database.url, connections: 1 });
    const memory = createMemoryStore({ maxSchemaCacheBytes: 10 << 20 });
    try {
      await fill(memory, dataset);
      const postmaster = await postmasterOf(database.url);
      const sides = {
        memory: { store: memory, clock: ownSeconds },
        postgres: {
          store: postgres,
          clock: async () => ownSeconds() + (await familySeconds(postmaster)),
        },
      } as const;
      for (const engine of ["memory", "postgres"] as const) {
        results.push(...(await measureSide(engine, sides[engine], dataset, options.seconds)));
      }
    } finally {
      await postgres.close();
      await memory.close();
      if (!options.keep) await database.drop();
    }
  }
  print(`\n${explainTable(results)}`);
  print(`\n${totalTable(results)}`);
  return results;
}

interface ExplainSide {
  readonly store: Store;
  readonly clock: Clock;
}

/** Processor seconds so far. */
type Clock = () => number | Promise<number>;

async function measureSide(
  engine: ExplainResult["engine"],
  { store, clock }: ExplainSide,
  { name: dataset, classes, depth = defaultDepth }: AskedDataset,
  seconds: number,
): Promise<readonly ExplainResult[]> {
  const results: ExplainResult[] = [];
  for (const { name, questions } of classes) {
    const check = async (question: Question): Promise<boolean> =>
      await checkThrough(store, question, { depth });
    const explain = async (question: Question): Promise<boolean> =>
      await explainThrough(store, question, depth);
    const asked = { dataset, questions: name, engine, allowed: answerOfAll(questions) };
    const isAnswered = await isWithinLimits(explain, questions);
    const works = isAnswered ? [check, explain] : [check];
    const [ofCheck, ofExplain] = await measureInTurn(works, questions, clock, seconds);
    results.push({ ...asked, check: must(ofCheck, "it was measured"), explain: ofExplain });
  }
  return results;
}

function answerOfAll(questions: readonly Question[]): boolean | undefined {
  const answers = new Set(questions.map(({ allowed }) => allowed));
  return answers.size === 1 ? [...answers][0] : undefined;
}

type AskQuestion = (question: Question) => Promise<boolean>;

/** Processor microseconds of one question, for each kind of work. */
async function measureInTurn(
  works: readonly AskQuestion[],
  questions: readonly Question[],
  clock: Clock,
  seconds: number,
): Promise<readonly number[]> {
  const spent = works.map(() => ({ seconds: 0, times: 0 }));
  for (const work of works) {
    for (let nth = 0; nth < warmUps; nth++) await askRight(work, questions, nth);
  }
  const end = performance.now() + seconds * 1_000;
  for (let turn = 0; turn === 0 || performance.now() < end; turn++) {
    for (const [place, work] of works.entries()) {
      const of = must(spent[place], "each has its own");
      const begin = await clock();
      const from = performance.now();
      for (let nth = 0; nth < askedInTurn && performance.now() - from < 1_000; nth++) {
        await askRight(work, questions, turn * askedInTurn + nth);
        of.times += 1;
      }
      of.seconds += (await clock()) - begin;
    }
  }
  return spent.map(({ seconds: all, times }) => (all / times) * 1_000_000);
}

async function askRight(
  ask: AskQuestion,
  questions: readonly Question[],
  nth: number,
): Promise<void> {
  const question = must(questions[nth % questions.length], "a class has questions");
  if ((await ask(question)) !== question.allowed) {
    throw new Error(`wrong answer: ${JSON.stringify(question)}`);
  }
}

async function isWithinLimits(
  explain: AskQuestion,
  questions: readonly Question[],
): Promise<boolean> {
  try {
    for (const question of questions) await explain(question);
    return true;
  } catch (error) {
    if (error instanceof PembaError && error.code === "GATHER_LIMIT_EXCEEDED") return false;
    throw error;
  }
}

async function explainThrough(
  store: Pick<Store, "permissions">,
  { entity, permission, user }: Question,
  depth: number,
): Promise<boolean> {
  const subject = { type: "user", id: user, relation: "" };
  const { allowed } = await store.permissions.explain(firstTenant, {
    schemaVersion: undefined,
    snapToken: undefined,
    depth,
    context: emptyContext,
    item: { entity, permission, subject, arguments: [] },
  });
  return allowed;
}

/** Writes what the schema allows: other tuples lead nowhere, and only a database takes them. */
async function fill(store: Store, { schema, facts }: Dataset): Promise<void> {
  await store.schemas.write(firstTenant, { text: schema });
  const { entities } = compileSchemaText(schema);
  const fits = ({ entity, relation, subject }: Tuple): boolean =>
    entities
      .get(entity.type)
      ?.relations.get(relation)
      ?.types.some((one) => one.type === subject.type && one.relation === subject.relation) ??
    false;
  let chunk: Fact[] = [];
  const write = async (): Promise<void> => {
    const tuples = chunk.flatMap((one) => (one.kind === "tuple" ? [one.tuple].filter(fits) : []));
    const attributes = chunk.flatMap((one) => (one.kind === "attribute" ? [one.attribute] : []));
    await store.data.write(firstTenant, { schemaVersion: undefined, tuples, attributes });
    chunk = [];
  };
  for (const fact of facts()) {
    chunk.push(fact);
    if (chunk.length === factsPerWrite) await write();
  }
  await write();
}

function ownSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

function explainTable(results: readonly ExplainResult[]): string {
  const rows = results.map(({ dataset, questions, engine, check, explain }) => [
    `${dataset}: ${questions}`,
    engine,
    figure(check),
    explain === undefined ? "limit" : figure(explain),
    explain === undefined ? "" : times(explain, check),
  ]);
  const headings = ["processor time in microseconds", "engine", "check", "explain", "times"];
  return formatTable(headings, rows);
}

/** All classes of a data set with the same answer together, a question of each. */
function totalTable(results: readonly ExplainResult[]): string {
  const totals = new Map<string, { check: number; explain: number; classes: number }>();
  for (const { dataset, engine, allowed, check, explain } of results) {
    if (explain === undefined) continue;
    const answer = allowed === undefined ? "both" : allowed ? "allowed" : "denied";
    const name = [dataset, answer, engine].join("\t");
    const total = totals.get(name) ?? { check: 0, explain: 0, classes: 0 };
    total.check += check;
    total.explain += explain;
    total.classes += 1;
    totals.set(name, total);
  }
  const rows = [...totals].map(([name, { check, explain, classes }]) => [
    ...name.split("\t"),
    figure(classes),
    figure(check),
    figure(explain),
    times(explain, check),
  ]);
  const headings = ["data", "answer", "engine", "classes", "check", "explain", "times"];
  return formatTable(headings, rows);
}

function times(explain: number, check: number): string {
  return `${figure(explain / check)}${explain > target * check ? " !" : ""}`;
}
