import { printable } from "../../base/printable.ts";
import { entityText, subjectText } from "../../model-test/file/model-file.ts";
import { placeText } from "../../model-test/file/text-place.ts";
import { answerText, type CaseResult, type FileResult } from "../../model-test/run/case-result.ts";
import { openMemoryTenant } from "../../model-test/run/memory-tenant.ts";
import type { LoadedModel } from "../../model-test/run/write-model.ts";
import { warn } from "../output.ts";
import { loadModel } from "./load-model.ts";
import { runAttempt } from "./run-attempt.ts";
import { show } from "./show.ts";

/** A file whose validation was printed. */
export interface Validation {
  /** Undefined if the file cannot be run. */
  readonly model: LoadedModel | undefined;
  readonly isGood: boolean;
}

/** The headings of cases in a scenario, in their order. */
const headings = [
  ["check", "checks:"],
  ["entity_filter", "entity_filters:"],
  ["subject_filter", "subject_filters:"],
] as const satisfies readonly (readonly [CaseResult["kind"], string])[];

/** Runs the file on a store in memory, and prints what comes of each line of it. */
export async function validateFile(location: string): Promise<Validation> {
  const attempt = await loadModel(location, { isStrict: false, minDepth: 3 });
  for (const { place, message } of attempt.warnings)
    warn(printable(`${placeText(place)}: ${message}`));
  const result = await runAttempt(attempt, async () => openMemoryTenant());
  const fails = result.problems.map(({ place, message }) => `${placeText(place)}: ${message}`);
  if (attempt.model !== undefined && fails.length === 0) {
    fails.push(...printRun(attempt.model, result));
  }
  if (fails.length === 0) {
    for (const part of ["schema", "data", "scenarios"]) {
      show(`${part} successfully validated`, "good");
    }
    show("SUCCESS", "good");
  } else {
    show("fails:", "bad");
    for (const fail of fails) show(fail, "bad");
    show("FAILED", "bad");
  }
  return { model: attempt.model, isGood: fails.length === 0 };
}

/** Returns the failures. */
function printRun({ file }: LoadedModel, result: FileResult): readonly string[] {
  show("schema is creating");
  show("success", "good");
  show("relationships are creating");
  for (const { value } of file.tuples) {
    const { entity, relation, subject } = value;
    printSuccess(`${entityText(entity)}#${relation}@${subjectText(subject)}`);
  }
  show("attributes are creating");
  for (const { value } of file.attributes) {
    printSuccess(`${entityText(value.entity)}$${value.attribute}`);
  }
  show("scenarios are checking");
  const cases = [...result.cases];
  const fails: string[] = [];
  for (const [index, { name, description, cases: written }] of file.scenarios.entries()) {
    show(`${index + 1}.scenario: ${name} - ${description}`);
    const count = written.reduce((sum, { assertions }) => sum + assertions.length, 0);
    const own = cases.splice(0, count);
    for (const [kind, heading] of headings) {
      const ofKind = own.filter((one) => one.kind === kind);
      if (ofKind.length > 0) show(`  ${heading}`);
      for (const one of ofKind) {
        const fail = failureOf(one);
        if (fail === undefined) printSuccess(one.query, "    ");
        else {
          show(`    fail: ${fail}`, "bad");
          fails.push(fail);
        }
      }
    }
  }
  return fails;
}

function printSuccess(what: string, indent = ""): void {
  show(`${indent}success: ${what}`, "good");
}

function failureOf({ query, outcome }: CaseResult): string | undefined {
  if (outcome.kind === "passed") return undefined;
  if (outcome.kind === "error") return `${query} -> ${outcome.message}`;
  return `${query} -> expected: ${answerText(outcome.expected)} actual: ${answerText(outcome.got)}`;
}
