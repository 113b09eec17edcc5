import { diffSchemas } from "../../authoring/diff/diff.ts";
import { formatSchemaText } from "../../authoring/format/format.ts";
import { planCheck, printCheck } from "../../authoring/plan/print-check.ts";
import { runThrough } from "../../base/steps.ts";
import { analyseSchema } from "../../editor/analysis.ts";
import { completionsAt } from "../../editor/complete.ts";
import { hoverAt } from "../../editor/hover.ts";
import { compileSchemaText } from "../../language/compile.ts";
import { drawGraph } from "../graph/layout.ts";
import { inspectSchema } from "./inspect.ts";
import type { JobInput, JobName, JobOutput, JobReply, JobRequest } from "./jobs.ts";
import { readLines } from "./read-facts.ts";

/* What takes longer than a frame of the page runs here: the page never waits for it. */

type Doers = {
  readonly [Name in JobName]: (input: JobInput<Name>) => JobOutput<Name> | Promise<JobOutput<Name>>;
};

const doers: Doers = {
  inspect: ({ text }) => inspectSchema(text),
  complete: ({ text, offset }) =>
    runThrough(completionsAt(runThrough(analyseSchema(text)), offset)),
  hover: ({ text, offset }) => runThrough(hoverAt(runThrough(analyseSchema(text)), offset)),
  draw: ({ text }) => drawGraph(compileSchemaText(text)),
  format: ({ text }) => formatSchemaText(text),
  diff: ({ before, after }) => diffSchemas(compileSchemaText(before), compileSchemaText(after)),
  plan: ({ text, ...question }) => {
    const schema = compileSchemaText(text);
    // Each argument of a rule is the attribute of the same name.
    const parameters = [...(schema.rules.get(question.permission)?.parameters.keys() ?? [])];
    return printCheck(planCheck(schema, { ...question, arguments: parameters }));
  },
  readLines: ({ text }) => readLines(text),
  // What reads and runs tests is large, and most visits need none of it.
  readTestData: async ({ text }) => (await import("./read-test-data.ts")).readTestData(text),
  test: async ({ schema, test }) => await (await import("./run-test.ts")).runTest(schema, test),
};

addEventListener("message", ({ data }: MessageEvent<JobRequest>) => {
  void answer(data).then((reply) => postMessage(reply));
});

async function answer({ id, name, input }: JobRequest): Promise<JobReply> {
  try {
    const work: (input: never) => unknown = doers[name];
    return { id, kind: "done", output: await work(input as never) };
  } catch (error) {
    return { id, kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}
