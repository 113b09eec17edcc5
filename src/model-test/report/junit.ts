import { placeText } from "../file/text-place.ts";
import { answerText, type CaseResult, type FileResult } from "../run/case-result.ts";
import { escapeMarkup } from "./escape.ts";
import { caseName, figuresOf, missingText, type TestRun } from "./test-run.ts";

/**
 * The report in the XML of JUnit: a suite for each file, and one for each schema whose coverage has a
 * threshold.
 */
export function junitReport(run: TestRun): string {
  const suites = [...run.files.map(fileSuite), ...coverageSuites(run)];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="pemba test">',
    ...suites.map(suiteText),
    "</testsuites>",
  ].join("\n");
}

interface JunitCase {
  readonly name: string;
  readonly className: string;
  readonly seconds: number;
  readonly fault:
    | { readonly kind: "failure" | "error"; readonly message: string; readonly text: string }
    | undefined;
}

interface JunitSuite {
  readonly name: string;
  readonly cases: readonly JunitCase[];
}

function fileSuite({ path, problems, cases }: FileResult): JunitSuite {
  return {
    name: path,
    cases: [
      ...problems.map(({ place, message }) => ({
        name: placeText(place),
        className: path,
        seconds: 0,
        fault: { kind: "error" as const, message, text: `${placeText(place)}: ${message}` },
      })),
      ...cases.map((result) => ({
        name: caseName(result),
        className: path,
        seconds: result.milliseconds / 1_000,
        fault: faultOf(result),
      })),
    ],
  };
}

function faultOf({ outcome, place }: CaseResult): JunitCase["fault"] {
  if (outcome.kind === "passed") return undefined;
  const isFailure = outcome.kind === "failed";
  const got = isFailure ? answerText(outcome.got) : outcome.message;
  const message = `expected ${answerText(outcome.expected)}, got ${got}`;
  const proof = isFailure ? outcome.proof : [];
  const text = [`${placeText(place)}: ${message}`, ...proof].join("\n");
  return { kind: isFailure ? "failure" : "error", message, text };
}

function coverageSuites({ coverage = [], threshold }: TestRun): readonly JunitSuite[] {
  if (threshold === undefined) return [];
  return coverage.map(({ schema, parts }) => {
    const { percent } = figuresOf(parts);
    const message = `${percent} % of the schema is covered, expected at least ${threshold} %`;
    const missing = parts.filter((part) => part.missing.length > 0).map(missingText);
    return {
      name: `coverage of ${schema.label}`,
      cases: [
        {
          name: "coverage",
          className: schema.label,
          seconds: 0,
          fault:
            percent >= threshold
              ? undefined
              : { kind: "failure" as const, message, text: [message, ...missing].join("\n") },
        },
      ],
    };
  });
}

function suiteText({ name, cases }: JunitSuite): string {
  const count = (kind: "failure" | "error"): number =>
    cases.filter(({ fault }) => fault?.kind === kind).length;
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  const head = `  <testsuite name="${escapeMarkup(name)}" tests="${cases.length}" failures="${count("failure")}" errors="${count("error")}" time="${seconds.toFixed(3)}">`;
  return [head, ...cases.map(caseText), "  </testsuite>"].join("\n");
}

function caseText({ name, className, seconds, fault }: JunitCase): string {
  const head = `    <testcase name="${escapeMarkup(name)}" classname="${escapeMarkup(className)}" time="${seconds.toFixed(3)}"`;
  if (fault === undefined) return `${head}/>`;
  const { kind, message, text } = fault;
  return [
    `${head}>`,
    `      <${kind} message="${escapeMarkup(message)}">${escapeMarkup(text)}</${kind}>`,
    "    </testcase>",
  ].join("\n");
}
