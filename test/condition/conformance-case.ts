import type { IncrementalTest } from "@bufbuild/cel-spec/testdata/tests.js";

import { compileCondition } from "../../src/condition/compile.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";
import { celLiteral } from "./cel-literal.ts";

/** The outcome of a case as a rule: as the suite says, or another one. */
export type CaseOutcome =
  | { readonly kind: "passed" }
  | { readonly kind: "failed"; readonly how: string };

const passed: CaseOutcome = { kind: "passed" };

function failed(how: string): CaseOutcome {
  return { kind: "failed", how };
}

/**
 * Runs a case as the body of a rule without parameters. Its variables become those of macros over
 * lists of one element, its result is compared within the rule, by type and by value.
 */
export function runCase({ original }: IncrementalTest): CaseOutcome {
  const isError = original.resultMatcher.case === "evalError";
  const text = withVariables(
    original,
    `[dyn(${original.expr}\n)].exists(actual, ${testOf(original)})`,
  );
  if (text === undefined) return failed("its variables have no names of a rule");
  const compiled = compileCondition(text, new Map());
  if (!compiled.ok) {
    if (isError) return passed;
    return failed(original.disableCheck ? "it is not meant to be checked" : compiled.message);
  }
  const verdict = evaluateCondition(compiled.condition, { parameters: new Map(), data: {} });
  if (verdict.kind === "fault") return isError ? passed : failed(`fault: ${verdict.message}`);
  if (isError) return failed("it has a value");
  return verdict.value ? passed : failed("it has another value");
}

/** What the value must be; for one that no rule can write, nothing that holds. */
function testOf({ resultMatcher }: IncrementalTest["original"]): string {
  const wanted = wantedLiteral(resultMatcher);
  if (resultMatcher.case === "evalError") return "actual == actual";
  if (wanted === "double('NaN')") return "actual != actual";
  return wanted === undefined ? "false" : `type(actual) == type(${wanted}) && actual == ${wanted}`;
}

type ResultMatcher = IncrementalTest["original"]["resultMatcher"];

function wantedLiteral(matcher: ResultMatcher): string | undefined {
  switch (matcher.case) {
    case "value":
      return celLiteral(matcher.value);
    case "typedResult":
      return matcher.value.result && celLiteral(matcher.value.result);
    case undefined:
      // The suite leaves out what is expected most often.
      return "true";
    default:
      return undefined;
  }
}

/** Names that nothing can hide, since they are values. */
const constants = new Set(["true", "false", "null"]);

function withVariables(
  { bindings }: IncrementalTest["original"],
  body: string,
): string | undefined {
  let text = body;
  for (const [name, { kind }] of Object.entries(bindings)) {
    if (constants.has(name)) continue;
    const value = kind.case === "value" ? celLiteral(kind.value) : undefined;
    if (value === undefined || !/^\w+$/.test(name)) return undefined;
    text = `[${value}].exists(${name}, ${text})`;
  }
  return text;
}
