import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { compileSchemaText } from "../../src/language/compile.ts";
import { checksToAsk } from "../differential/agreement.ts";
import { itemText, type Round } from "../differential/case.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { anyLookupCase } from "../differential/generate-lookup.ts";
import { lookupsToAsk } from "../differential/lookup-agreement.ts";
import { lookupText } from "../differential/lookup-case.ts";
import type { Lookup } from "../differential/lookup-oracle.ts";
import type { Outcome } from "../differential/oracle.ts";
import { ask, frameOf, type Story, tell } from "../differential/story.ts";

/*
 * What has one answer is answered by its first statement, for random schemas. A statement that leaves
 * such a question open is not wrong, since a second one is asked then, but it costs as much again.
 */

const statements: string[] = [];
let engines: Engines;

before(async () => {
  engines = await startEngines((text) => statements.push(text));
});

after(() => engines.stop());

/** Of each round. */
const most = 6;

const limit = 1_000;

for (const [place, one] of fc.sample(anyLookupCase, { seed: 1, numRuns: 30 }).entries()) {
  test(`what has one answer takes one statement, in case ${place}`, async () => {
    const story = await tell(engines.postgres, one);
    const schemas = one.schemas.map(compileSchemaText);
    for (const round of one.rounds) {
      for (const { item, expected } of checksToAsk(one, round, schemas, most)) {
        if (!hasOneAnswer(expected.outcomes)) continue;
        const text = `${itemText(item)} at depth ${round.depth} under\n${one.schemas.join("\n")}`;
        await takesOne(text, async () => await ask(story, { ...round, items: [item] }));
      }
    }
    for (const { round, lookup, expected } of lookupsToAsk(one, most)) {
      if (expected.kind === "refused") continue;
      if (![...expected.outcomes.values()].every(hasOneAnswer)) continue;
      const text = `${lookupText(lookup)} at depth ${round.depth} under\n${one.schemas.join("\n")}`;
      await takesOne(text, async () => await look(story, round, lookup));
    }
  });
}

/** Neither the depth nor a rule that fails leaves it open. */
function hasOneAnswer(outcomes: ReadonlySet<Outcome>): boolean {
  return outcomes.size === 1 && (outcomes.has("allowed") || outcomes.has("denied"));
}

/** Counted when it is done for the second time, so that nothing has to be learnt any more. */
async function takesOne(text: string, work: () => Promise<unknown>): Promise<void> {
  await work();
  statements.length = 0;
  await work();
  assert.equal(statements.length, 1, `${text}\n\n${statements.join("\n\n")}`);
}

async function look(story: Story, round: Round, lookup: Lookup): Promise<unknown> {
  const frame = { ...frameOf(story, round), after: undefined, limit };
  return lookup.kind === "subjects"
    ? await story.store.lookups.subjects(story.tenant, { ...lookup, ...frame })
    : await story.store.lookups.entities(story.tenant, {
        ...lookup,
        scope: new Map(Object.entries(lookup.scope)),
        ...frame,
      });
}
