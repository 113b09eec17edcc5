import { figure, formatTable } from "../report.ts";
import { missed } from "./hostile-questions.ts";
import { loopDelayOf, type Target } from "./target.ts";

/** How long the loop of the process was away while a question was asked some times at once. */
export interface TreesResult {
  readonly engine: string;
  readonly graph: string;
  readonly question: string;
  readonly atOnce: number;
  /** Undefined if an answer was neither right nor refused. */
  readonly loopMs: number | undefined;
  readonly isMissed: boolean;
}

interface Graph {
  readonly name: string;
  readonly facts: () => {
    readonly tuples: readonly object[];
    readonly attributes?: readonly object[];
  };
  /** Operations with what is asked of the entity with the name of the graph. */
  readonly questions: readonly (readonly ["check" | "explain" | "expand", string])[];
}

const wantedLoopMs = 50;

const schema = `entity user {}
entity group { relation member @user @group#member }
entity folder {
  attribute note string
  relation parent @folder
  relation reader @user @group#member
  relation owner @user
  permission view = owner or reader
  permission up = owner or (reader not parent.up)
  permission noted = named(note) or parent.noted
}
rule named(note string) { note == "plan" }`;

/** As long as an id can be. */
const idLength = 128;

const nested = 200;
const crowd = 90_000;
const noted = 1_000;
const noteLength = 10_000;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

const graphs: readonly Graph[] = [
  {
    name: "groups that contain each other",
    facts: () => ({
      tuples: range(nested).flatMap((from) => [
        tuple("folder:top", "reader", `group:${from}#member`),
        ...range(nested)
          .filter((to) => to !== from)
          .map((to) => tuple(`group:${from}`, "member", `group:${to}#member`)),
      ]),
    }),
    questions: [
      ["explain", "view"],
      ["explain", "up"],
      ["check", "up"],
    ],
  },
  {
    name: "a crowd",
    facts: () => ({
      tuples: range(crowd).map((at) => tuple("folder:top", "reader", `user:${at}`)),
    }),
    questions: [["expand", "view"]],
  },
  {
    name: "long values",
    facts: () => ({
      tuples: range(noted).map((at) => tuple("folder:top", "parent", `folder:${at}`)),
      attributes: range(noted).map((at) => ({
        entity: entity(`folder:${at}`),
        attribute: "note",
        value: {
          "@type": "type.googleapis.com/base.v1.StringValue",
          data: "é".repeat(noteLength),
        },
      })),
    }),
    questions: [["explain", "noted"]],
  },
];

const atOnce = [1, 10] as const;
const times = 3;

/** Asks questions about graphs of which very much is read and shown. */
export async function measureTrees(
  target: Target,
  engine: string,
): Promise<readonly TreesResult[]> {
  const results: TreesResult[] = [];
  for (const { name: graph, facts, questions } of graphs) {
    const { path } = await target.write({ schema, ...facts() });
    for (const [question, permission] of questions) {
      for (const count of atOnce) {
        const asked = { engine, graph, question: `${question} ${permission}`, atOnce: count };
        const ask = async (): Promise<boolean> =>
          await isAnswered(target, `${path}permissions/${question}`, permission);
        results.push({ ...asked, ...(await measure(target, ask, count)) });
      }
    }
  }
  return results;
}

export function treesTable(results: readonly TreesResult[]): string {
  return formatTable(
    ["engine", "graph", "question", "at once", "loop max ms", "wanted"],
    results.map((result) => [
      result.engine,
      result.graph,
      result.question,
      String(result.atOnce),
      result.loopMs === undefined ? "WRONG" : figure(result.loopMs),
      `<= ${wantedLoopMs}${missed(result)}`,
    ]),
  );
}

async function measure(
  target: Target,
  ask: () => Promise<boolean>,
  count: number,
): Promise<Pick<TreesResult, "loopMs" | "isMissed">> {
  await ask();
  await loopDelayOf(await target.ready());
  let areAnswered = true;
  for (let time = 0; time < times; time += 1) {
    const answers = await Promise.all(range(count).map(ask));
    areAnswered &&= !answers.includes(false);
  }
  const loopMs = await loopDelayOf(await target.ready());
  return areAnswered
    ? { loopMs, isMissed: loopMs > wantedLoopMs }
    : { loopMs: undefined, isMissed: true };
}

let users = 0;

/** Each time another user, for whom there is no answer that is kept. */
async function isAnswered(target: Target, path: string, permission: string): Promise<boolean> {
  const { asker } = await target.ready();
  users += 1;
  const outcome = await asker.post(path, {
    metadata: {},
    entity: entity("folder:top"),
    permission,
    subject: entity(`user:stranger-${users}`),
  });
  return outcome.kind === "answered";
}

function tuple(from: string, relation: string, to: string): object {
  const [end = "", subjectRelation = ""] = to.split("#");
  return { entity: entity(from), relation, subject: { ...entity(end), relation: subjectRelation } };
}

function entity(text: string): { readonly type: string; readonly id: string } {
  const [type = "", id = ""] = text.split(":");
  return { type, id: `${id}-`.padEnd(idLength, "x") };
}
