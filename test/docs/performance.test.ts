import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { performancePage, updatePage } from "../../bench/performance-page.ts";

const page = join(import.meta.dirname, "../../docs/performance.md");

test("docs/performance.md says what is recorded of the benchmarks", () => {
  // UPDATE_PAGES=1 writes the page anew after another run.
  if (process.env["UPDATE_PAGES"] === "1") updatePage();
  assert.equal(readFileSync(page, "utf8"), performancePage());
});
