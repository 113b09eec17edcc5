import assert from "node:assert/strict";
import { test } from "node:test";

import { Pace, type Steps } from "../../src/base/steps.ts";
import type { AttributeValue, JsonValue } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { entityCandidates, subjectCandidates } from "../../src/memory/candidates.ts";
import type { Facts } from "../../src/memory/facts.ts";
import { reachesInScope } from "../../src/memory/forward-walk.ts";
import { GroundBudget } from "../../src/memory/ground-budget.ts";
import { interpret } from "../../src/memory/interpret.ts";
import type { EvaluationInput } from "../../src/memory/judge.ts";
import type { KnownFacts } from "../../src/memory/known-facts.ts";
import { planOf } from "../../src/plan/build.ts";
import type { CandidatePlan } from "../../src/plan/passes/5-drop-guards.ts";
import { openRules } from "../../src/store/postgres/questions/lookup-plan.ts";
import { plansOver } from "../support/plans.ts";

/* A rule may take long at each of many entities: its evaluations yield to other requests. */

const schemaText = `entity user {}
entity doc {
  relation parent @doc
  relation owner @user
  attribute level integer
  permission ok = heavy(level)
  permission below = parent.ok
  permission gathered = heavy(level) not (parent.gathered or owner)
  permission light = small(level)
  permission mine = owner
  permission owned = parent.owner
  permission lightBelow = parent.light
}
rule heavy(level integer) { context.data.list.all(x, context.data.list.all(y, x + y >= 0.0)) && level > 0 }
rule small(level integer) { level > context.data.least }`;

const schema = compileSchemaText(schemaText);
const list = Array.from({ length: 100 }, (_, index) => index);
const data: { readonly [key: string]: JsonValue } = { list, least: 1 };
const positive: AttributeValue = { type: "integer", data: 1 };
const subject = { type: "user", id: "ann", relation: "" };

/** The document \`0\` has so many parents. */
function parents(
  count: number,
): Facts & Pick<KnownFacts, "knownIds" | "attributeIds" | "entityIds"> {
  return {
    hasTuple: () => false,
    *subjectIds({ id }, relations) {
      if (id !== "0" || !relations.includes("parent")) return;
      for (let nth = 1; nth <= count; nth += 1) yield String(nth);
    },
    *subjects(entity, relation, type) {
      for (const id of this.subjectIds(entity, [relation], type, undefined)) {
        yield { id, relation: "" };
      }
    },
    attribute: () => undefined,
    knownIds: () => [],
    attributeIds: () => [],
    entityIds: () => [],
  };
}

function askedOf(facts: Facts): Omit<EvaluationInput, "onFault"> {
  const budget = new GroundBudget();
  return { facts, entityId: "0", subject, depth: 100, data, budget, pace: new Pace() };
}

function planFor(permission: string): ReturnType<typeof planOf> {
  const asked = { entityType: "doc", permission, subjectType: "user", subjectRelation: "" };
  return planOf(schema, { ...asked, arguments: [] }, (field) => field);
}

function pausesOf(steps: Steps<unknown>): number {
  return [...steps].length;
}

test("a search yields while a rule takes long, at one entity and at many", () => {
  const one = pausesOf(interpret(planFor("ok"), askedOf(parents(0))));
  assert.ok(one > 50, `${one} pauses`);
  const ten = pausesOf(interpret(planFor("below"), askedOf(parents(10))));
  assert.ok(ten > 9 * one, `${ten} pauses`);
});

test("a network that is solved yields while a rule takes long", () => {
  const pauses = pausesOf(interpret(planFor("gathered"), askedOf(parents(10))));
  assert.ok(pauses > 500, `${pauses} pauses`);
});

test("a search yields at many entities whose rules are short", () => {
  const few = pausesOf(interpret(planFor("lightBelow"), askedOf(parents(3))));
  assert.equal(few, 0);
  const many = pausesOf(interpret(planFor("lightBelow"), askedOf(parents(1_000))));
  assert.ok(many > 10, `${many} pauses`);
});

test("a search for candidates yields at one entity or subject that many lead to", async () => {
  const plans = await plansOver(schemaText);
  const candidatesOf = async (permission: string): Promise<CandidatePlan> => {
    const asked = { entityType: "doc", permission, subjectType: "user", subjectRelation: "" };
    const question = { ...asked, arguments: [] };
    const planning = {
      compiled: plans.compiled.compiled,
      question,
      path: (field: string) => field,
    };
    return (await plans.lookups.planOf("entities", planning)).lookup.candidatePlan;
  };
  const many = Array.from({ length: 1_000 }, (_, nth) => String(nth));
  const all = { entityIds: () => many, subjectIds: () => many, knownIds: () => many };
  const facts = { ...parents(0), ...all, attribute: () => positive };
  const input = { ...askedOf(facts), facts, data: { list: [] }, namedId: undefined };
  const isInScope = (): boolean => true;
  const walks = await candidatesOf("owned");
  const entities = pausesOf(entityCandidates(walks, { ...input, subject, isInScope }));
  assert.ok(entities > 3_000, `${entities} pauses`);
  const direct = pausesOf(subjectCandidates(await candidatesOf("mine"), input));
  assert.ok(direct >= 3, `${direct} pauses`);
  const every = pausesOf(subjectCandidates(await candidatesOf("ok"), input));
  assert.ok(every >= 3, `${every} pauses`);
});

test("what a lookup tries before it asks yields while a rule takes long", async () => {
  const plans = await plansOver(schemaText);
  const asked = {
    entityType: "doc",
    permission: "below",
    subjectType: "user",
    subjectRelation: "",
  };
  const question = { ...asked, arguments: [] };
  const planning = { compiled: plans.compiled.compiled, question, path: (field: string) => field };
  const planned = await plans.lookups.planOf("entities", planning);
  assert.ok(pausesOf(openRules(planned, data)) > 50);
  const { candidatePlan } = planned.lookup;
  const input = { ...askedOf(parents(10)), facts: parents(10), namedId: undefined };
  assert.ok(pausesOf(subjectCandidates(candidatePlan, input)) > 500);
  const scoped = { ...askedOf(parents(10)), isInScope: () => true };
  assert.ok(pausesOf(reachesInScope(candidatePlan, scoped)) > 500);
});
