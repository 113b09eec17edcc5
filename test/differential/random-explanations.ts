import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { must } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Explanation } from "../../src/store/explanation.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { checksToAsk, type Disagreement, disagreementText } from "./agreement.ts";
import type { Case, Round } from "./case.ts";
import { itemText } from "./case.ts";
import type { Engines } from "./engines.ts";
import { fileEngines } from "./file-engines.ts";
import { anyCase } from "./generate.ts";
import type { Outcome } from "./oracle.ts";
import { proofFaults } from "./proof-checker.ts";
import { assertNoFaults, randomRuns } from "./random-run.ts";
import { askSingly, factsAfter, frameOf, outcomeOf, type Story, tell } from "./story.ts";

/** Of each round of a case. */
const itemsAsked = 7;

/** Tests that what both engines say about the why of random checks is true. */
export function testRandomExplanations(defaultCases: number): void {
  const engines = fileEngines();
  for (const run of randomRuns(defaultCases)) {
    test(`both engines explain the checks of ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      const faults = async (one: Case): Promise<readonly Disagreement[]> =>
        await explanationFaults(engines(), one);
      const text = async (one: Case): Promise<string> => disagreementText(one, await faults(one));
      await assertNoFaults(anyCase, run, { faults, text });
    });
  }
}

async function explanationFaults(engines: Engines, one: Case): Promise<readonly Disagreement[]> {
  const schemas = one.schemas.map(compileSchemaText);
  const memory = await tell(engines.memory, one);
  const postgres = await tell(engines.postgres, one);
  const found: Disagreement[] = [];
  for (const round of one.rounds) {
    const version = round.schema ?? schemas.length - 1;
    const schema = must(schemas[version], "the round names a schema");
    const text = must(one.schemas[version], "the round names a schema");
    const facts = factsAfter(one.writes, round.after);
    const items = checksToAsk(one, round, schemas, itemsAsked).map(({ item }) => item);
    const asked = { ...round, items };
    const checked = [await askSingly(memory, asked), await askSingly(postgres, asked)];
    for (const [place, item] of items.entries()) {
      const explained = [await ask(memory, round, item), await ask(postgres, round, item)];
      const says = (what: string): void => {
        found.push({ what: `${itemText(item)}: ${what}`, round: { ...round, items: [item] } });
      };
      for (const [engine, { outcome }] of explained.entries()) {
        const check = checked[engine]?.[place];
        if (outcome !== check) says(`explained ${outcome}, but checked ${check}`);
      }
      const [first, second] = explained.map(({ explanation }) => explanation);
      if (!isDeepStrictEqual(withoutState(first), withoutState(second))) {
        says("the engines explain it otherwise");
      }
      if (first === undefined) continue;
      if (first.isTruncated) says("parts were left out");
      const question = { schema, facts, context: round.context, ...item };
      for (const fault of proofFaults({ question, text, depth: round.depth }, first.proof)) {
        says(fault);
      }
    }
  }
  return found;
}

interface Answered {
  readonly outcome: Outcome;
  readonly explanation?: Explanation;
}

async function ask(story: Story, round: Round, item: CheckItem): Promise<Answered> {
  try {
    const frame = frameOf(story, round);
    const explanation = await story.store.permissions.explain(story.tenant, { ...frame, item });
    return { outcome: explanation.allowed ? "allowed" : "denied", explanation };
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return { outcome: outcomeOf(error.code) };
  }
}

function withoutState(explanation: Explanation | undefined): Explanation | undefined {
  if (explanation === undefined) return undefined;
  const { allowed, proof, isTruncated } = explanation;
  return { allowed, proof, isTruncated };
}
