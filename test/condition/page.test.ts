import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { functionNames, methodNames } from "../../src/condition/standard-library.ts";
import { featureTable, gapTable, namesInExamples } from "./library-page.ts";

const page = join(import.meta.dirname, "../../docs/conditions.md");

/*
 * The tables of docs/conditions.md are made of what the code does. After a change that is meant:
 *
 *   UPDATE_PAGES=1 npm run test:only -- test/condition/page.test.ts && npx oxfmt docs/conditions.md
 */

test("docs/conditions.md says what is worked out in SQL and what is interpreted", () => {
  assertTable("features", featureTable());
});

test("docs/conditions.md names every gap, with what is said to it", () => {
  const file = join(import.meta.dirname, "conformance-gaps.json");
  assertTable("gaps", gapTable(JSON.parse(readFileSync(file, "utf8"))));
});

test("docs/conditions.md leaves out no function and no method", () => {
  const all = new Set([...functionNames, ...methodNames]);
  assert.deepEqual(namesInExamples(), all);
});

function assertTable(name: string, table: string): void {
  const text = readFileSync(page, "utf8");
  const place = new RegExp(`(?<=<!-- ${name} -->\n)[^]*?(?=<!-- end -->)`);
  assert.match(text, place);
  if (process.env["UPDATE_PAGES"] === "1") {
    writeFileSync(
      page,
      text.replace(place, () => `\n${table}\n\n`),
    );
  }
  const [found = ""] = place.exec(readFileSync(page, "utf8")) ?? [];
  assert.deepEqual(cellsOf(found), cellsOf(table));
}

/** The cells of each row, however wide its columns are. */
function cellsOf(table: string): readonly (readonly string[])[] {
  const rows = table.split("\n").filter((line) => line.startsWith("|") && !line.includes("---"));
  return rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
}
