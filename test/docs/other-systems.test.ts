import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "../differential/engines.ts";
import { play } from "../scenarios/scene.ts";
import { examplesOfPage } from "./language-page.ts";

const name = "other-systems.md";
const examples = examplesOfPage(name, ["fga", "zed", "sh", "json"]);

let started: Engines;
before(async () => {
  started = await startEngines();
});
after(() => started.stop());

test(`docs/${name} asks something of each of its schemas`, () => {
  assert.ok(examples.length >= 4);
  for (const { line, checks, marked } of examples) {
    assert.ok(marked === "compiles" && checks.length > 0, `line ${line}`);
  }
});

for (const { line, schema, facts, checks } of examples) {
  play(() => started, `docs/${name}:${line}`, { schema, facts, questions: checks });
}
