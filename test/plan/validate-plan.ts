import { assert, must } from "../../src/base/assert.ts";
import { componentsOf } from "../../src/base/graph.ts";
import { runThrough } from "../../src/base/steps.ts";
import type { Guard, GuardedHop, GuardedTest, SearchPlan, State } from "../../src/plan/plan.ts";

/**
 * Checks what the engines rely on in a search plan, and fails with an assertion where it does not
 * hold:
 *
 * - a state's number is its place, state 0 is of the asked entity type, and each other one is reached;
 * - a hop leads to a state of its subject type, under relations that are listed once, and a userset
 *   hop names its userset;
 * - guards are of the state's own entity type, none is both required and excluded, and a guard of
 *   arrival stands at no test or hop besides;
 * - of one state and one set of guards there is at most one direct test, one self test, one test of
 *   each attribute and rule, one hop to each userset, and one walk to each target;
 * - no guard leads back to the state that it guards, by hops or by guards.
 */
export function validatePlan(plan: SearchPlan): void {
  const { states, usersets, question } = plan;
  assert(states[0]?.entityType === question.entityType, "state 0 is of the asked type");
  for (const [id, state] of states.entries()) {
    assert(state.id === id, "a state's number is its place");
    validateGuards(plan, state);
    validateTests(state);
    for (const hop of state.hops) validateHop(plan, hop);
    assertDistinct(state.hops.map(hopKey), `hops of state ${id}`);
  }
  for (const { members } of usersets) {
    assert(
      members.every((member) => usersets[member] !== undefined),
      "members are usersets",
    );
    assertDistinct(members.map(String), "members of a userset");
  }
  validateReach(states);
}

function validateGuards({ states }: SearchPlan, state: State): void {
  const own = [...state.tests, ...state.hops].map(({ guards }) => guards);
  for (const guards of [state.arrival, ...own]) {
    const numbers = guards.map((guard) => String(guard.state));
    assertDistinct(numbers, `guards of state ${state.id}`);
    for (const guard of guards) {
      assert(states[guard.state]?.entityType === state.entityType, "guards are of the same type");
    }
  }
  const arrival = new Set(state.arrival.map((guard) => guard.state));
  assert(
    own.flat().every((guard) => !arrival.has(guard.state)),
    "what guards the arrival guards nothing besides",
  );
}

function validateTests({ id, tests }: State): void {
  assertDistinct(tests.map(testKey), `tests of state ${id}`);
  for (const { test } of tests) {
    if (test.kind === "direct") assertRelations(test.relations);
  }
}

function validateHop({ states, usersets }: SearchPlan, { hop, target }: GuardedHop): void {
  assertRelations(hop.relations);
  assert(states[target]?.entityType === hop.subjectType, "a hop leads to a state of its type");
  if (hop.kind !== "userset") return;
  const userset = usersets[hop.userset];
  assert(
    userset?.entityType === hop.subjectType && userset.relation === hop.subjectRelation,
    "a userset hop names its userset",
  );
}

function validateReach(states: readonly State[]): void {
  const next = (id: number): number[] => {
    const { arrival, tests, hops } = must(states[id], "states refer to each other");
    const guards = [...arrival, ...[...tests, ...hops].flatMap((one) => one.guards)];
    return [...hops.map(({ target }) => target), ...guards.map(({ state }) => state)];
  };
  const components = runThrough(componentsOf([0], next));
  const numbers = new Map(
    components.flatMap(({ members }, number) => members.map((member) => [member, number] as const)),
  );
  assert(numbers.size === states.length, "every state is reached");
  for (const { id, arrival, tests, hops } of states) {
    for (const guard of [...arrival, ...[...tests, ...hops].flatMap((one) => one.guards)]) {
      assert(numbers.get(guard.state) !== numbers.get(id), "no guard leads back to its state");
    }
  }
}

function testKey({ guards, test }: GuardedTest): string {
  const name = test.kind === "attribute" ? test.name : test.kind === "rule" ? test.rule.name : "";
  return `${guardsKey(guards)} ${test.kind} ${name}`;
}

function hopKey({ guards, hop, target }: GuardedHop): string {
  const to = hop.kind === "userset" ? `${hop.subjectType}#${hop.subjectRelation}` : String(target);
  return `${guardsKey(guards)} ${hop.kind} ${to}`;
}

function guardsKey(guards: readonly Guard[]): string {
  const keys = guards.map(({ state, polarity }) => `${polarity}${state}`);
  return keys.toSorted().join(" ");
}

function assertRelations(relations: readonly string[]): void {
  assert(relations.length > 0, "a probe has relations");
  assertDistinct(relations, "relations of a probe");
}

function assertDistinct(keys: readonly string[], what: string): void {
  assert(new Set(keys).size === keys.length, `${what} are distinct`);
}
