import { measureCoverage } from "../../model-test/coverage/measure.ts";
import type { MeasuredPart } from "../../model-test/coverage/part-marks.ts";
import { readModelFile } from "../../model-test/file/read-model-file.ts";
import type { PlacedMessage } from "../../model-test/file/text-place.ts";
import { figuresOf, missingText } from "../../model-test/report/test-run.ts";
import { answerText, type CaseResult } from "../../model-test/run/case-result.ts";
import { openMemoryTenant } from "../../model-test/run/memory-tenant.ts";
import { runScenarios } from "../../model-test/run/run-model.ts";
import {
  type LoadedModel,
  type LoadedSchema,
  writeModel,
} from "../../model-test/run/write-model.ts";

/** A message about one of the two texts. Lines and columns count from 1. */
export interface TestProblem {
  readonly of: "schema" | "test";
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What became of an assertion. */
export interface TestCase {
  readonly scenario: string;
  readonly query: string;
  readonly line: number;
  readonly column: number;
  readonly state: "passed" | "failed" | "error";
  /** What was expected and what came, for one that did not pass. */
  readonly message: string;
  readonly proof: readonly string[];
}

/** A part of the schema by its place, with what no assertion has seen it decide. */
export interface CoveredPart {
  /** Offsets in the text, `end` exclusive. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly state: "covered" | "partly" | "missed";
  readonly message: string;
}

export interface TestReport {
  readonly problems: readonly TestProblem[];
  readonly cases: readonly TestCase[];
  readonly parts: readonly CoveredPart[];
  /** Of the parts, rounded down. Undefined if nothing was run. */
  readonly percent: number | undefined;
  /** Whether the test has a schema of its own, in whose place the given one was used. */
  readonly bringsSchema: boolean;
}

const schemaFile = "schema";
const testFile = "test";

/** Runs a model test on the schema, in a tenant of its own in memory, and measures the coverage. */
export async function runTest(schemaText: string, testText: string): Promise<TestReport> {
  const read = readModelFile(testText, testFile, { isStrict: true, minDepth: 1 });
  const none = { problems: [], cases: [], parts: [], percent: undefined, bringsSchema: false };
  if (read.kind === "problems") return { ...none, problems: read.problems.map(problemOf) };
  const placeIn = (line: number, column: number) => ({ file: schemaFile, line, column });
  const schema: LoadedSchema = { text: schemaText, label: schemaFile, placeIn };
  const model: LoadedModel = { file: read.file, schema };
  const bringsSchema = read.file.schema.text.includes("{");
  const tenant = openMemoryTenant();
  try {
    const refused = await writeModel(tenant, model);
    if (refused.length > 0) return { ...none, bringsSchema, problems: refused.map(problemOf) };
    const cases = (await runScenarios(tenant, model.file.scenarios)).map(caseOf);
    const { parts } = await measureCoverage(schema, [model]);
    const { percent } = figuresOf(parts);
    return { problems: [], cases, parts: parts.map(partOf), percent, bringsSchema };
  } finally {
    await tenant.close();
  }
}

function problemOf({ place, message }: PlacedMessage): TestProblem {
  const { file, line, column } = place;
  return { of: file === schemaFile ? "schema" : "test", line, column, message };
}

function caseOf({ scenario, query, place, outcome }: CaseResult): TestCase {
  const common = { scenario, query, line: place.line, column: place.column };
  switch (outcome.kind) {
    case "passed":
      return { ...common, state: "passed", message: "", proof: [] };
    case "failed": {
      const message = `expected ${answerText(outcome.expected)}, got ${answerText(outcome.got)}`;
      return { ...common, state: "failed", message, proof: outcome.proof };
    }
    case "error":
      return { ...common, state: "error", message: outcome.message, proof: [] };
  }
}

function partOf(part: MeasuredPart): CoveredPart {
  const state = part.missing.length === 0 ? "covered" : part.isUntouched ? "missed" : "partly";
  const { start, end, line } = part;
  return { start, end, line, state, message: missingText(part) };
}
