import { must, unreachable } from "../base/assert.ts";
import type { Pace, Steps } from "../base/steps.ts";
import type { Entity, JsonValue, Subject } from "../base/tuple.ts";
import { DENIED } from "../base/verdict.ts";
import type { CandidateHop, CandidatePlan, CandidateState } from "../plan/passes/5-drop-guards.ts";
import type { Test } from "../plan/plan.ts";
import { forwardWalk } from "./forward-walk.ts";
import { judgeValue, type ValueTest } from "./judge.ts";
import type { KnownFacts } from "./known-facts.ts";

/** What a lookup reads besides the plan. */
export interface CandidateInput {
  readonly facts: KnownFacts;
  readonly data: { readonly [key: string]: JsonValue };
  /** An id of the type that is looked for and that counts as known, since the question names it. */
  readonly namedId: string | undefined;
  readonly pace: Pace;
}

type IdSearch = Steps<ReadonlySet<string>>;

/**
 * The entities that the plan could accept for the subject, found from the subject's end. Those that
 * `isInScope` leaves out lead nowhere.
 */
export function* entityCandidates(
  plan: CandidatePlan,
  input: CandidateInput & {
    readonly subject: Subject;
    readonly isInScope: (entity: Entity) => boolean;
  },
): IdSearch {
  const { facts, isInScope, pace } = input;
  const leading = hopsByTarget(plan);
  const found = new Map([...plan.states.keys()].map((id) => [id, new Set<string>()]));
  const queue: { readonly state: CandidateState; readonly id: string }[] = [];
  const enter = (state: CandidateState, id: string): void => {
    const ids = must(found.get(state.id), "every state has its ids");
    if (ids.has(id) || !isInScope({ type: state.entityType, id })) return;
    ids.add(id);
    queue.push({ state, id });
  };
  for (const state of plan.states.values()) {
    for (const { test } of state.tests) {
      for (const id of testedIds(state, test, input)) {
        const entity = { type: state.entityType, id };
        if (yield* mayAccept(test, entity, input)) enter(state, id);
        yield;
      }
    }
  }
  // Grows while it is read.
  for (const { state, id } of queue) {
    yield;
    for (const { from, hop } of leading.get(state.id) ?? []) {
      const subject = { type: hop.subjectType, id, relation: hop.subjectRelation };
      for (const one of facts.entityIds(from.entityType, hop.relations, subject)) {
        if (pace.step()) yield;
        enter(from, one);
      }
    }
  }
  return must(found.get(0), "a plan has a first state");
}

/** The subjects of a type and relation that the plan could accept on the entity, from its end. */
export function* subjectCandidates(
  plan: CandidatePlan,
  input: CandidateInput & { readonly entityId: string },
): IdSearch {
  const { facts, pace } = input;
  const { subjectType, subjectRelation } = plan.question;
  const found = new Set<string>();
  const walk = forwardWalk(plan, { ...input, isInScope: () => true });
  for (const { state, entity } of walk) {
    yield;
    for (const { test } of state.tests) {
      switch (test.kind) {
        case "direct": {
          const { relations } = test;
          for (const one of facts.subjectIds(entity, relations, subjectType, subjectRelation)) {
            if (pace.step()) yield;
            found.add(one);
          }
          break;
        }
        case "self":
          found.add(entity.id);
          break;
        case "attribute":
        case "rule":
          // It accepts every subject.
          if (yield* mayHold(test, entity, input)) return yield* allKnown(subjectType, input);
          break;
      }
    }
  }
  return found;
}

function hopsByTarget(
  plan: CandidatePlan,
): ReadonlyMap<number, readonly { readonly from: CandidateState; readonly hop: CandidateHop }[]> {
  const all = [...plan.states.values()].flatMap((from) => from.hops.map((hop) => ({ from, hop })));
  return Map.groupBy(all, ({ hop }) => hop.target);
}

/** The entities of a state at which its test could accept, and others. */
function testedIds(
  { entityType }: CandidateState,
  test: Test,
  input: CandidateInput & { readonly subject: Subject },
): Iterable<string> {
  const { facts, subject } = input;
  switch (test.kind) {
    case "direct":
      return facts.entityIds(entityType, test.relations, subject);
    case "self":
      return [subject.id];
    case "attribute":
      return facts.attributeIds(entityType, test.name);
    case "rule":
      // It may accept what has no attributes at all: it sees the defaults then.
      return knownIds(entityType, input);
    default:
      return unreachable(test);
  }
}

function* mayAccept(test: Test, entity: Entity, input: CandidateInput): Steps<boolean> {
  return test.kind === "direct" || test.kind === "self" || (yield* mayHold(test, entity, input));
}

function* mayHold(
  test: ValueTest,
  entity: Entity,
  { facts, data, pace }: CandidateInput,
): Steps<boolean> {
  return (yield* judgeValue(test, entity, { facts, data, pace, onFault: () => {} })) !== DENIED;
}

function* allKnown(type: string, input: CandidateInput): IdSearch {
  const all = new Set<string>();
  for (const id of knownIds(type, input)) {
    if (input.pace.step()) yield;
    all.add(id);
  }
  return all;
}

function* knownIds(type: string, { facts, namedId }: CandidateInput): Iterable<string> {
  if (namedId !== undefined) yield namedId;
  yield* facts.knownIds(type);
}
