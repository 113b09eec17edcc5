import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { must } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import type { ExpandTree } from "../../src/store/expand-tree.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { type Case, caseText, type Round } from "./case.ts";
import type { Engines } from "./engines.ts";
import { fileEngines } from "./file-engines.ts";
import { anyCase } from "./generate.ts";
import { expectation, type Outcome } from "./oracle.ts";
import { type RandomRun, randomRuns } from "./random-run.ts";
import { askSingly, factsAfter, frameOf, outcomeOf, type Story, tell } from "./story.ts";
import { treeValue } from "./tree-value.ts";

/** Of each round. */
const itemsAsked = 6;

/**
 * Tests of other ways to ask what a check asks: the tree of expand, evaluated by its operators, and
 * all permissions of a subject at once.
 */
export function testOtherWays(defaultCases: number): void {
  const engines = fileEngines();
  for (const run of randomRuns(defaultCases)) testPart(engines, run);
}

function testPart(engines: () => Engines, run: RandomRun): void {
  test(`a tree comes to what the oracle answers, in ${run.cases} random cases`, async (t) => {
    t.diagnostic(`PEMBA_SEED=${run.seed}`);
    let compared = 0;
    await holds(run, async (one) => {
      const memory = await tell(engines().memory, one);
      const postgres = await tell(engines().postgres, one);
      for (const round of one.rounds) {
        for (const item of round.items.slice(0, itemsAsked)) {
          const tree = await expand(memory, round, item);
          assert.deepEqual(await expand(postgres, round, item), tree);
          if (typeof tree === "string") continue;
          compared += Number(comparesTree(one, round, item, tree));
        }
      }
    });
    assert.ok(compared > run.cases, `only ${compared} trees had a value`);
  });

  test(`all permissions of a subject are what single checks answer, in ${run.cases} random cases`, async (t) => {
    t.diagnostic(`PEMBA_SEED=${run.seed}`);
    await holds(run, async (one) => {
      for (const store of [engines().memory, engines().postgres]) {
        const story = await tell(store, one);
        for (const round of one.rounds) {
          for (const item of round.items.slice(0, itemsAsked)) {
            await assertPermissions(story, schemaOf(one, round), round, item);
          }
        }
      }
    });
  });
}

async function holds(
  { seed, cases }: RandomRun,
  check: (one: Case) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(anyCase, async (one) => {
    try {
      await check(one);
    } catch (error) {
      throw new Error(caseText(one), { cause: error });
    }
  });
  await fc.assert(property, { seed, numRuns: cases, interruptAfterTimeLimit: 180_000 });
}

function schemaOf(one: Case, round: Round): Schema {
  const text = must(one.schemas.at(round.schema ?? -1), "the round names a schema");
  return compileSchemaText(text);
}

async function expand(story: Story, round: Round, item: CheckItem): Promise<ExpandTree | Outcome> {
  try {
    const question = { ...frameOf(story, round), ...item };
    return await story.store.permissions.expand(story.tenant, question);
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return outcomeOf(error.code);
  }
}

/** False when the oracle has no answer for sure, or the tree has none. */
function comparesTree(one: Case, round: Round, item: CheckItem, tree: ExpandTree): boolean {
  const schema = schemaOf(one, round);
  const facts = factsAfter(one.writes, round.after);
  // A tree shows the usersets themselves, so only who stands in them has a truth of his own.
  const subject = { ...item.subject, relation: "" };
  const question = { schema, facts, context: round.context, ...item, subject };
  const value = treeValue(tree, subject, schema, round.context);
  const { outcomes } = expectation(question, 1_000);
  if (value === undefined || outcomes.size > 1 || outcomes.has("UNDEFINED_RESULT")) return false;
  assert.deepEqual([...outcomes], [value ? "allowed" : "denied"], JSON.stringify(item));
  return true;
}

async function assertPermissions(
  story: Story,
  schema: Schema,
  round: Round,
  item: CheckItem,
): Promise<void> {
  const definition = schema.entities.get(item.entity.type);
  const permissions = [...(definition?.permissions.keys() ?? [])];
  const relations = [...(definition?.relations.keys() ?? [])];
  for (const onlyPermission of [true, false]) {
    const names = onlyPermission ? permissions : [...permissions, ...relations];
    const items = names.map((permission) => ({ ...item, permission, arguments: [] }));
    const singly = await askSingly(story, { ...round, items });
    const together = await permissionsOf(story, round, item, onlyPermission);
    if (typeof together === "string") {
      // A type or a subject that the schema does not have is refused also where nothing is listed.
      assert.ok(
        names.length === 0 || singly.includes(together),
        `${together}, not ${singly.join(" or ")}`,
      );
      continue;
    }
    const wanted = names.map((name, place) => [name, singly[place]]);
    assert.deepEqual([...together], wanted);
  }
}

async function permissionsOf(
  story: Story,
  round: Round,
  { entity, subject }: CheckItem,
  onlyPermission: boolean,
): Promise<ReadonlyMap<string, Outcome> | Outcome> {
  const question = { ...frameOf(story, round), entity, subject, onlyPermission };
  try {
    const answers = await story.store.permissions.subjectPermissions(story.tenant, question);
    return new Map(
      [...answers].map(([name, { allowed }]) => [name, allowed ? "allowed" : "denied"]),
    );
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return outcomeOf(error.code);
  }
}
