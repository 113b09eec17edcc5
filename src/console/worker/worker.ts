import { formatSchemaText } from "../../authoring/format/format.ts";
import { planCheck, printCheck } from "../../authoring/plan/print-check.ts";
import { runThrough } from "../../base/steps.ts";
import { analyseSchema } from "../../editor/analysis.ts";
import { completionsAt } from "../../editor/complete.ts";
import { hoverAt } from "../../editor/hover.ts";
import { compileSchemaText } from "../../language/compile.ts";
import { drawGraph } from "../graph/layout.ts";
import { inspectSchema } from "./inspect.ts";
import type { JobInput, JobMessage, JobName, JobOutput, JobReply, JobRequest } from "./jobs.ts";
import { readLines } from "./read-facts.ts";

/* What takes longer than a frame of the page runs here: the page never waits for it. */

/** The signal aborts when the job is dropped. Only work in slices, with other jobs in between, sees that. */
type Doers = {
  readonly [Name in JobName]: (
    input: JobInput<Name>,
    signal: AbortSignal,
  ) => JobOutput<Name> | Promise<JobOutput<Name>>;
};

const doers: Doers = {
  inspect: async ({ text }, signal) => await inspectSchema(text, signal),
  complete: async (asked) =>
    asked.of === "schema"
      ? runThrough(completionsAt(runThrough(analyseSchema(asked.schema)), asked.offset))
      : (await readNames()).completeIn(asked),
  hover: async (asked) =>
    asked.of === "schema"
      ? runThrough(hoverAt(runThrough(analyseSchema(asked.schema)), asked.offset))
      : (await readNames()).hoverIn(asked),
  definitions: async (asked) => (await readNames()).definitionsIn(asked),
  references: async (asked) => (await readNames()).referencesIn(asked),
  renamable: async (asked) => (await readNames()).renamableIn(asked),
  rename: async (asked) => (await readNames()).renameIn(asked),
  draw: ({ text }) => drawGraph(compileSchemaText(text)),
  format: ({ text }) => formatSchemaText(text),
  plan: ({ text, ...question }) => {
    const schema = compileSchemaText(text);
    // Each argument of a rule is the attribute of the same name.
    const parameters = [...(schema.rules.get(question.permission)?.parameters.keys() ?? [])];
    return printCheck(planCheck(schema, { ...question, arguments: parameters }));
  },
  readLines: ({ text }) => readLines(text),
  // What reads and runs tests is large, and most visits need none of it.
  readTestData: async ({ text }) => (await part(import("./read-test-data.ts"))).readTestData(text),
  test: async ({ schema, test }) =>
    await (await part(import("./run-test.ts"))).runTest(schema, test),
};

/** What reads names in a test file reads YAML. */
async function readNames() {
  return await part(import("./ask-names.ts"));
}

/** A part that is loaded when it is needed first. By then, the server may have a newer console. */
async function part<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch {
    throw new Error("a part of the console cannot be loaded: reload the page");
  }
}

/** The jobs that are under way. */
const running = new Map<number, AbortController>();

addEventListener("message", ({ data }: MessageEvent<JobMessage>) => {
  if (data.kind === "drop") running.get(data.id)?.abort();
  else void answer(data).then((reply) => postMessage(reply));
});

async function answer({ id, name, input }: JobRequest): Promise<JobReply> {
  const dropping = new AbortController();
  running.set(id, dropping);
  try {
    const work: (input: never, signal: AbortSignal) => unknown = doers[name];
    return { id, kind: "done", output: await work(input as never, dropping.signal) };
  } catch (error) {
    return { id, kind: "failed", message: error instanceof Error ? error.message : String(error) };
  } finally {
    running.delete(id);
  }
}
