import { must } from "../base/assert.ts";
import type { Schema } from "../language/schema.ts";
import type { Automaton, OpenState, OpenStateGuard } from "./automaton.ts";
import type { Guard, GuardedHop, Question, SearchPlan, State, Userset } from "./plan.ts";

/**
 * The search plan of an automaton: what can never accept this subject type is dropped, guards that
 * all alternatives of a state share become its arrival guards, and the usersets that userset hops
 * lead to are listed for the search from the subject's end.
 */
export function searchPlan(schema: Schema, question: Question, automaton: Automaton): SearchPlan {
  const accepting = acceptingStates(automaton.states);
  const numbers = reachedStates(automaton.states, accepting);
  const usersets = new UsersetTable(schema, question);
  const states = [...numbers].map(([open, id]) =>
    finishState(id, must(automaton.states[open], "a reached state exists"), {
      accepting,
      numbers,
      usersets,
    }),
  );
  return { kind: "search", question, states, usersets: usersets.list() };
}

/** The states from which some test can accept, as a least fixpoint. */
function acceptingStates(states: readonly OpenState[]): ReadonlySet<number> {
  const accepting = new Set<number>();
  for (let size = -1; size < accepting.size;) {
    size = accepting.size;
    states.forEach((state, id) => {
      if (accepting.has(id)) return;
      const tests = state.tests.some((test) => canHold(test.guards, accepting));
      const hops = state.hops.some(
        (hop) => accepting.has(hop.target) && canHold(hop.guards, accepting),
      );
      if (tests || hops) accepting.add(id);
    });
  }
  return accepting;
}

function canHold(guards: readonly OpenStateGuard[], accepting: ReadonlySet<number>): boolean {
  return guards.every((guard) => guard.polarity === "excluded" || accepting.has(guard.state));
}

/** Old number to new number of the states that are left, in the order in which they are reached. */
function reachedStates(
  states: readonly OpenState[],
  accepting: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const numbers = new Map([[0, 0]]);
  for (const id of numbers.keys()) {
    const state = must(states[id], "a reached state exists");
    const targets = [
      ...state.hops
        .filter((hop) => accepting.has(hop.target) && canHold(hop.guards, accepting))
        .flatMap((hop) => [hop.target, ...guardStates(hop.guards, accepting)]),
      ...state.tests
        .filter((test) => canHold(test.guards, accepting))
        .flatMap((test) => guardStates(test.guards, accepting)),
    ];
    for (const target of targets) if (!numbers.has(target)) numbers.set(target, numbers.size);
  }
  return numbers;
}

function guardStates(guards: readonly OpenStateGuard[], accepting: ReadonlySet<number>): number[] {
  return guards.filter((guard) => accepting.has(guard.state)).map((guard) => guard.state);
}

interface Finish {
  readonly accepting: ReadonlySet<number>;
  readonly numbers: ReadonlyMap<number, number>;
  readonly usersets: UsersetTable;
}

function finishState(id: number, open: OpenState, finish: Finish): State {
  const { accepting, numbers, usersets } = finish;
  const number = (state: number): number => must(numbers.get(state), "a kept state has a number");
  const kept = (guards: readonly OpenStateGuard[]): Guard[] =>
    // An excluded operand that can never accept holds nothing back.
    guards
      .filter((guard) => accepting.has(guard.state))
      .map((guard) => ({ state: number(guard.state), polarity: guard.polarity }));
  const tests = open.tests
    .filter((test) => canHold(test.guards, accepting))
    .map((test) => ({ ...test, guards: kept(test.guards) }));
  const hops = open.hops
    .filter((hop) => accepting.has(hop.target) && canHold(hop.guards, accepting))
    .map((hop): GuardedHop => ({
      guards: kept(hop.guards),
      hop:
        hop.hop.kind === "userset"
          ? { ...hop.hop, userset: usersets.intern(hop.hop.subjectType, hop.hop.subjectRelation) }
          : hop.hop,
      target: number(hop.target),
    }));
  const arrival = sharedGuards([...tests, ...hops].map((step) => step.guards));
  const isOwn = (guard: Guard): boolean => !arrival.some((shared) => shared.state === guard.state);
  return {
    id,
    entityType: open.entityType,
    label: open.label,
    arrival,
    tests: tests.map((test) => ({ ...test, guards: test.guards.filter(isOwn) })),
    hops: hops.map((hop) => ({ ...hop, guards: hop.guards.filter(isOwn) })),
  };
}

function sharedGuards(all: readonly (readonly Guard[])[]): Guard[] {
  const [first = [], ...others] = all;
  return first.filter((guard) =>
    others.every((guards) => guards.some((other) => other.state === guard.state)),
  );
}

/** The usersets of the plan with the usersets that may stand in them. */
class UsersetTable {
  readonly #schema: Schema;
  readonly #question: Question;
  readonly #ids = new Map<string, number>();
  readonly #names: { readonly entityType: string; readonly relation: string }[] = [];

  constructor(schema: Schema, question: Question) {
    this.#schema = schema;
    this.#question = question;
  }

  intern(entityType: string, relation: string): number {
    const key = `${entityType}#${relation}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#names.length;
      this.#ids.set(key, id);
      this.#names.push({ entityType, relation });
    }
    return id;
  }

  list(): Userset[] {
    const usersets: Userset[] = [];
    // Grows while it is read: the members of a userset are usersets of the plan, too.
    for (const { entityType, relation } of this.#names) {
      const definition = this.#schema.entities.get(entityType)?.relations.get(relation);
      const types = must(definition, "a userset type names a relation").types;
      const { subjectType, subjectRelation } = this.#question;
      usersets.push({
        entityType,
        relation,
        direct: types.some(
          (type) => type.type === subjectType && type.relation === subjectRelation,
        ),
        self: entityType === subjectType && relation === subjectRelation,
        members: types
          .filter((type) => type.relation !== "")
          .map((type) => this.intern(type.type, type.relation)),
      });
    }
    return usersets;
  }
}
