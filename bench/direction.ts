import postgres from "postgres";
import { Type } from "typebox";
import { Value } from "typebox/value";

import { assert, must } from "../src/base/assert.ts";
import { compileSchemaText } from "../src/language/compile.ts";
import { planOf } from "../src/plan/build.ts";
import { checkStatement } from "../src/sql/check.ts";
import { plainShape, askedAlone } from "../src/sql/push-down.ts";
import type { Statement } from "../src/sql/text/fragment.ts";
import { sessionSettings } from "../src/store/postgres/connect/session-settings.ts";
import type { Dataset, Question } from "./data/dataset.ts";
import { medianOfNumbers } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase, type LoadedData } from "./server.ts";
import { benchTenant } from "./store.ts";
import { byUsersets, walked } from "./workloads/directions.ts";

/** What one direction costs in the database. */
export interface DirectionCost {
  /** Lower quartile of the executions. */
  readonly ms: number;
  /** Pages that are looked at, the mean of the questions. */
  readonly pages: number;
}

/** One class of questions searched as Pemba does, and the same in another direction. */
export interface DirectionResult {
  readonly questions: string;
  readonly direction: Direction;
  readonly rule: DirectionCost;
  readonly other: DirectionCost;
  /** How many times faster the other direction is. */
  readonly gain: number;
}

/**
 * Usersets only from the entity, only from the subject however many there are, or a walk as if it
 * were usersets, which are closed from the subject.
 */
type Direction = "from the entity" | "from the subject" | "walk by usersets";

const Explained = Type.Array(
  Type.Object({
    Plan: Type.Object({
      "Shared Hit Blocks": Type.Number(),
      "Shared Read Blocks": Type.Number(),
    }),
    "Execution Time": Type.Number(),
  }),
);

/** Questions of a class that are asked: each of them in every run. */
const asked = 10;

/**
 * What the other direction of a search would gain or cost: the best of them is what a choice by
 * statistics could come to. The statements are those of Pemba with the rule taken out.
 */
export async function benchDirections(
  server: BenchServer,
  datasets: readonly (Dataset & LoadedData)[],
  options: { readonly runs: number; readonly keep: boolean },
  print: (line: string) => void,
): Promise<readonly DirectionResult[]> {
  const results: DirectionResult[] = [];
  for (const dataset of datasets) {
    const database = await loadDatabase(server, dataset, print);
    const client = postgres(database.url, {
      max: 1,
      connection: sessionSettings,
      onnotice: () => {},
    });
    try {
      for (const { name, questions } of dataset.classes) {
        const picked = questions.slice(0, asked);
        results.push(
          ...(await compare(client, dataset, { name, questions: picked }, options.runs)),
        );
      }
    } finally {
      await client.end();
      if (!options.keep) await database.drop();
    }
  }
  print(`\n${directionTable(results)}`);
  return results;
}

async function compare(
  client: postgres.Sql,
  { schema }: Dataset,
  { name, questions }: { readonly name: string; readonly questions: readonly Question[] },
  runs: number,
): Promise<readonly DirectionResult[]> {
  const first = must(questions[0], "a class has questions");
  const rule = statementOf(schema, first.entity.type, first.permission);
  const others = othersOf(schema, first, rule);
  const statements = [rule, ...others.map(({ statement }) => statement)];
  for (const [nth, { text }] of statements.entries()) {
    await client.unsafe(`prepare direction_${nth} as ${text}`);
  }
  const costs = statements.map((): { readonly ms: number[]; pages: number } => ({
    ms: [],
    pages: 0,
  }));
  for (const question of questions) {
    for (const [nth, statement] of statements.entries()) {
      const [row] = await client.unsafe(`execute direction_${nth}${valuesOf(statement, question)}`);
      assert((row?.["verdict"] === 2) === question.allowed, `wrong answer: ${name}`);
    }
  }
  // In turn, so that whatever else the machine does hits all alike.
  for (let run = 0; run < runs; run++) {
    for (const question of questions) {
      for (const [nth, statement] of statements.entries()) {
        const { ms, pages } = await explained(
          client,
          `execute direction_${nth}${valuesOf(statement, question)}`,
        );
        const cost = must(costs[nth], "each statement has its costs");
        cost.ms.push(ms);
        cost.pages += pages / runs / questions.length;
      }
    }
  }
  await client.unsafe("deallocate all");
  const [ofRule, ...ofOthers] = costs.map(({ ms, pages }) => ({ ms: lowerQuartile(ms), pages }));
  return others.map(({ direction }, nth) => {
    const [base, other] = [must(ofRule, "measured"), must(ofOthers[nth], "measured")];
    return { questions: name, direction, rule: base, other, gain: base.ms / other.ms };
  });
}

function statementOf(text: string, entityType: string, permission: string): Statement {
  const schema = compileSchemaText(text);
  const question = { entityType, permission, subjectType: "user", subjectRelation: "" };
  const plan = planOf(schema, { ...question, arguments: [] }, (field) => field);
  return checkStatement([askedAlone(plan).body], plainShape);
}

function othersOf(
  schema: string,
  { entity, permission }: Question,
  rule: Statement,
): readonly { readonly direction: Direction; readonly statement: Statement }[] {
  if (permission === walked) {
    const statement = statementOf(schema, entity.type, byUsersets);
    return [{ direction: "walk by usersets", statement }];
  }
  const cutOff = /cut_off as materialized \(select (.*?) as v\)/;
  return [
    { direction: "from the entity", statement: withRule(rule, cutOff, "true") },
    { direction: "from the subject", statement: withRule(rule, cutOff, "false") },
  ];
}

/** The statement with another answer to whether the usersets of the subject are too many. */
function withRule(rule: Statement, place: RegExp, isCutOff: "true" | "false"): Statement {
  const text = rule.text.replace(place, `cut_off as materialized (select ${isCutOff} as v)`);
  assert(text !== rule.text, "the statement has its rule where it is looked for");
  return { ...rule, text };
}

function valuesOf({ params }: Statement, { entity, user }: Question): string {
  const values = new Map([
    ["item_0", "0"],
    ["id_0", `'${entity.id}'`],
    ["subject_0", `'${user}'`],
    ["depth", "100"],
    ["tenant", `'${benchTenant}'`],
  ]);
  return `(${params.map((name) => must(values.get(name), `a value for ${name}`)).join(", ")})`;
}

async function explained(client: postgres.Sql, execute: string): Promise<DirectionCost> {
  const rows = await client.unsafe(
    `explain (analyze, buffers, timing off, format json) ${execute}`,
  );
  const [result] = Value.Parse(Explained, rows[0]?.["QUERY PLAN"]);
  const { Plan: plan, "Execution Time": ms } = must(result, "explain says something");
  return { ms, pages: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] };
}

function lowerQuartile(values: readonly number[]): number {
  const median = medianOfNumbers(values);
  return medianOfNumbers(values.filter((value) => value <= median));
}

function directionTable(results: readonly DirectionResult[]): string {
  return formatTable(
    ["questions", "rule ms", "pages", "direction", "ms", "pages", "gain"],
    results.map(({ questions, direction, rule, other, gain }) => [
      questions,
      figure(rule.ms),
      figure(rule.pages),
      direction,
      figure(other.ms),
      figure(other.pages),
      figure(gain),
    ]),
  );
}
