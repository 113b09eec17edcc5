import postgres from "postgres";

import { compileSchemaText } from "../src/language/compile.ts";
import { planOf } from "../src/plan/build.ts";
import { checkStatement, type CheckShape } from "../src/sql/check.ts";
import { plainShape, askedAlone } from "../src/sql/push-down.ts";
import { sessionSettings } from "../src/store/postgres/connect/session-settings.ts";
import { planShape, scansOf, unboundScans } from "../test/support/query-plan.ts";
import type { Dataset } from "./data/dataset.ts";
import { type BenchServer, loadDatabase } from "./server.ts";

/** How one statement is planned on one server. */
export interface PlannedStatement {
  readonly server: string;
  /** A line for each node of the plan. */
  readonly shape: readonly string[];
  /** Scans of stored data that no index bounds: there should be none. */
  readonly unbound: number;
}

export interface PlanResult {
  /** What is asked, and how. */
  readonly statement: string;
  /** The classes of questions that send it. */
  readonly classes: readonly string[];
  readonly isSame: boolean;
  readonly plans: readonly PlannedStatement[];
}

const shapes: readonly { readonly name: string; readonly shape: CheckShape }[] = [
  { name: "one item at the head", shape: plainShape },
  { name: "one item at a snapshot", shape: { ...plainShape, pinned: true } },
  { name: "many items at the head", shape: { ...plainShape, bulk: true } },
];

/** Compares how servers plan the statements of a data set that each of them has loaded. */
export async function benchPlans(
  servers: readonly BenchServer[],
  dataset: Dataset,
  options: { readonly keep: boolean },
  print: (line: string) => void,
): Promise<readonly PlanResult[]> {
  const statements = statementsOf(dataset);
  const planned: (readonly PlannedStatement[])[] = [];
  for (const server of servers) {
    const database = await loadDatabase(server, dataset, print);
    try {
      const texts = statements.map(({ text }) => text);
      planned.push(await planAll(database.url, server.description, texts));
    } finally {
      if (!options.keep) await database.drop();
    }
  }
  return statements.map(({ statement, classes }, index) => {
    const plans = planned.flatMap((ofServer) => ofServer[index] ?? []);
    const isSame = new Set(plans.map(({ shape }) => shape.join("\n"))).size === 1;
    const result = { statement, classes, isSame, plans };
    printResult(result, print);
    return result;
  });
}

interface AskedStatement extends Pick<PlanResult, "statement" | "classes"> {
  readonly text: string;
}

/** The statements of all classes of questions; those that ask the same share theirs. */
function statementsOf(dataset: Dataset): readonly AskedStatement[] {
  const schema = compileSchemaText(dataset.schema);
  const asked = Map.groupBy(dataset.classes, ({ questions }) => {
    const { entity, permission } = questions[0] ?? { entity: { type: "" }, permission: "" };
    return JSON.stringify([entity.type, permission]);
  });
  return [...asked].flatMap(([key, classes]) => {
    const [entityType = "", permission = ""]: string[] = JSON.parse(key);
    const question = {
      entityType,
      permission,
      subjectType: "user",
      subjectRelation: "",
      arguments: [],
    };
    const plan = planOf(schema, question, (field) => field);
    const { body } = askedAlone(plan);
    return shapes.map(({ name, shape }) => ({
      statement: `${entityType}#${permission}@user, ${name}`,
      classes: classes.map((each) => each.name),
      text: checkStatement([body], shape).text,
    }));
  });
}

async function planAll(
  url: string,
  server: string,
  texts: readonly string[],
): Promise<readonly PlannedStatement[]> {
  const client = postgres(url, { max: 1, connection: sessionSettings, onnotice: () => {} });
  try {
    const planned: PlannedStatement[] = [];
    for (const text of texts) {
      const unbound = unboundScans(await scansOf(client, text)).length;
      planned.push({ server, shape: await planShape(client, text), unbound });
    }
    return planned;
  } finally {
    await client.end();
  }
}

function printResult(
  { statement, classes, isSame, plans }: PlanResult,
  print: (line: string) => void,
): void {
  const verdict = plans.length === 1 ? "" : isSame ? ": the same plan" : ": PLANS DIFFER";
  print(`\n${statement} (${classes.join(", ")})${verdict}`);
  // Plans that are the same are shown once.
  for (const { server, shape, unbound } of isSame ? plans.slice(0, 1) : plans) {
    print(isSame ? "" : `${server}:`);
    for (const line of shape) print(`  ${line}`);
    if (unbound > 0) print(`  ${unbound} SCANS ARE NOT BOUND BY THEIR INDEX`);
  }
}
