import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { buildPlan, rootOf } from "../../src/plan/build.ts";
import { lower } from "../../src/plan/passes/1-lower.ts";
import { restrict } from "../../src/plan/passes/2-restrict.ts";
import { unfold } from "../../src/plan/passes/3-unfold.ts";
import { arrange } from "../../src/plan/passes/4-arrange.ts";
import type { SearchPlan } from "../../src/plan/plan.ts";
import { schemaShape, schemaSketch } from "../differential/generate-schema.ts";
import { randomRuns } from "../differential/random-run.ts";
import { planFor } from "./explained.ts";
import { validatePlan } from "./validate-plan.ts";

for (const run of randomRuns(50)) {
  test(`all plans of ${run.cases} random schemas are valid, with their guards and without`, (t) => {
    t.diagnostic(`PEMBA_SEED=${run.seed}`);
    let plans = 0;
    const property = fc.property(schemaSketch, (sketch) => {
      for (const plan of searchPlans(schemaShape(sketch, false).text)) {
        validatePlan(plan);
        plans += 1;
      }
    });
    fc.assert(property, { seed: run.seed, numRuns: run.cases });
    assert.ok(plans > run.cases);
  });
}

/** Of each question of a schema, what is searched, and what finds the candidates of its lookups. */
function* searchPlans(text: string): Generator<SearchPlan> {
  const network = runThrough(lower(compileSchemaText(text)));
  const names = [...network.byName].flatMap(([entityType, byName]) =>
    [...byName.keys()].map((permission) => ({ entityType, permission })),
  );
  const kinds = [...network.byName].flatMap(([subjectType, byName]) =>
    ["", ...byName.keys()].map((subjectRelation) => ({ subjectType, subjectRelation })),
  );
  for (const kind of kinds) {
    const restricted = runThrough(restrict(network, kind));
    for (const name of names) {
      const question = { ...name, ...kind, arguments: [] };
      const root = rootOf(network, question, (field) => field);
      const asked = { question, network: restricted, root };
      const plan = runThrough(buildPlan(asked));
      if (plan.kind === "search") yield plan;
      const narrowed = runThrough(unfold(restricted, root, { purpose: "lookup" }));
      if (narrowed.kind === "automaton") yield arrange(asked, narrowed.automaton);
      const unguarded = runThrough(unfold(restricted, root, { purpose: "superset" }));
      if (unguarded.kind === "automaton") yield arrange(asked, unguarded.automaton);
    }
  }
}

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  attribute open boolean
  permission view = (viewer or parent.view) not banned
  permission seen = viewer or (parent.seen and open)
}`;

/** A valid plan, and one that breaks what is said to hold of it. */
function broken(question: string, change: (plan: SearchPlan) => SearchPlan): SearchPlan {
  const plan = planFor(schema, question);
  assert.ok(plan.kind === "search");
  validatePlan(plan);
  return change(plan);
}

const view = "folder#view@user";

const faults: readonly (readonly [string, SearchPlan])[] = [
  [
    "a state's number is its place",
    broken(view, (plan) => ({ ...plan, states: plan.states.toReversed() })),
  ],
  [
    "state 0 is of the asked type",
    broken(view, (plan) => ({ ...plan, question: { ...plan.question, entityType: "group" } })),
  ],
  [
    "tests of state 0 are distinct",
    broken(view, (plan) => changeState(plan, 0, ({ tests }) => ({ tests: [...tests, ...tests] }))),
  ],
  [
    "hops of state 0 are distinct",
    broken(view, (plan) => changeState(plan, 0, ({ hops }) => ({ hops: [...hops, ...hops] }))),
  ],
  [
    "guards are of the same type",
    broken(view, (plan) =>
      changeState(plan, 0, ({ hops: [first] }) => ({
        arrival: [{ state: first?.target ?? 0, polarity: "excluded" }],
      })),
    ),
  ],
  [
    "what guards the arrival guards nothing besides",
    broken(view, (plan) =>
      changeState(plan, 0, ({ arrival, tests }) => ({
        tests: tests.map((test) => ({ ...test, guards: arrival })),
      })),
    ),
  ],
  [
    "no guard leads back to its state",
    broken("folder#seen@user", (plan) =>
      changeState(plan, 0, () => ({ arrival: [{ state: 0, polarity: "required" }] })),
    ),
  ],
  [
    "a hop leads to a state of its type",
    broken(view, (plan) =>
      changeState(plan, 0, ({ hops }) => ({ hops: hops.map((hop) => ({ ...hop, target: 0 })) })),
    ),
  ],
  ["a userset hop names its userset", broken(view, (plan) => ({ ...plan, usersets: [] }))],
  ["every state is reached", broken(view, (plan) => changeState(plan, 0, () => ({ arrival: [] })))],
  [
    "a probe has relations",
    broken(view, (plan) =>
      changeState(plan, 0, () => ({
        tests: [{ guards: [], test: { kind: "direct", relations: [] } }],
      })),
    ),
  ],
];

for (const [message, plan] of faults) {
  test(`a plan is refused unless ${message}`, () => {
    assert.throws(() => validatePlan(plan), { message });
  });
}

type State = SearchPlan["states"][number];

function changeState(
  plan: SearchPlan,
  id: number,
  change: (state: State) => Partial<State>,
): SearchPlan {
  const states = plan.states.map((state) =>
    state.id === id ? { ...state, ...change(state) } : state,
  );
  return { ...plan, states };
}
