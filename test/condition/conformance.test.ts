import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
  getConformanceSuite,
  type IncrementalTestSuite,
} from "@bufbuild/cel-spec/testdata/tests.js";

import { runCase } from "./conformance-case.ts";

/*
 * The public conformance cases of CEL, as far as they are of the standard library. Those that do not
 * pass stand in conformance-gaps.json under what a rule says to them: no others may fail, and those
 * may not begin to pass unnoticed. After a change that is meant:
 *
 *   UPDATE_PAGES=1 npm run test:only -- test/condition/conformance.test.ts
 */

const sections = [
  "basic",
  "comparisons",
  "conversions",
  "fields",
  "fp_math",
  "integer_math",
  "lists",
  "logic",
  "macros",
  "parse",
  "plumbing",
  "string",
  "timestamps",
];

const gapsFile = join(import.meta.dirname, "conformance-gaps.json");

test("the conformance cases pass, but for those of the named gaps", (t) => {
  const gaps: Record<string, string[]> = {};
  let passed = 0;
  for (const { path, one } of casesOf(getConformanceSuite(), "")) {
    const outcome = runCase(one);
    if (outcome.kind === "passed") passed += 1;
    else (gaps[outcome.how] ??= []).push(path);
  }
  t.diagnostic(`${passed} cases passed`);
  assert.ok(passed > 800, `only ${passed} cases passed`);
  if (process.env["UPDATE_PAGES"] !== undefined) {
    writeFileSync(gapsFile, `${JSON.stringify(gaps, null, 2)}\n`);
  }
  assert.deepEqual(gaps, JSON.parse(readFileSync(gapsFile, "utf8")));
});

test("no gap gives another answer than the standard: each is refused when a schema is written", () => {
  const gaps: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(gapsFile, "utf8"));
  const silent = Object.keys(gaps).filter((how) => /^fault|^it has/.test(how));
  assert.deepEqual(silent, []);
});

interface NamedCase {
  /** The section, the group and the name of the case. */
  readonly path: string;
  readonly one: IncrementalTestSuite["tests"][number];
}

function casesOf(suite: IncrementalTestSuite, path: string): readonly NamedCase[] {
  const inner = suite.suites
    .filter(({ name }) => path !== "" || sections.includes(name))
    .flatMap((each) => casesOf(each, `${path}${each.name}/`));
  return [...suite.tests.map((one) => ({ path: `${path}${one.name}`, one })), ...inner];
}
