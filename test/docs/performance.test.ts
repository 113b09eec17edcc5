import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/performance.md"), "utf8");
const guide = readFileSync(join(root, "bench/README.md"), "utf8");

test("docs/performance.md has at most 1,000 words", () => {
  const words = page.split(/\s+/).filter((word) => /\w/.test(word));
  assert.ok(words.length <= 1_000, `it has ${words.length}`);
});

test("docs/performance.md names only benchmarks that bench/README.md explains", () => {
  const ofTables = [...page.matchAll(/^\| `(\w+)`/gm)];
  const ofText = [...page.matchAll(/^(?:- )?`(\w+)`/gm)];
  const named = new Set([...ofTables, ...ofText].map(([, name]) => name));
  assert.ok(named.size >= 8, "the page names its benchmarks");
  const unknown = [...named].filter((name) => !guide.includes(`\n## ${name}\n`));
  assert.deepEqual(unknown, []);
});
