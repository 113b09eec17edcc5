import { unreachable } from "../../base/assert.ts";
import type { GuardedTest, State, Test } from "../../plan/plan.ts";
import { relationProbe, relationSet, type RelationSet } from "../state/relation-set.ts";
import { type Fragment, join, literal, sql } from "../text/fragment.ts";
import { attributeVerdict, ruleVerdict } from "./attribute-verdict.ts";
import { behind, passage } from "./guard.ts";
import type { ReachedEntity, Writer } from "./writer.ts";

/** The verdict (an integer) of all tests of one state at one entity, without regard to its path. */
export function stateVerdict(writer: Writer, state: State, at: ReachedEntity): Fragment {
  const exact = state.tests.filter((test) => isExact(writer, test));
  const others = state.tests.filter((test) => !isExact(writer, test));
  const rest = greatest(others.map((test) => guardedVerdict(writer, state, test, at)));
  if (exact.length === 0) return rest;
  const holds = exact.map((test) => guardedHolds(writer, state, test, at));
  return sql`case when ${join(holds, " or ")} then 2 else ${rest} end`;
}

/** Whether an exact state accepts at an entity, its arrival guards included. */
export function stateHolds(writer: Writer, state: State, at: ReachedEntity): Fragment {
  if (state.tests.length === 0) return sql`false`;
  const tests = state.tests.map((test) => guardedHolds(writer, state, test, at));
  const passed = passage(writer, state.arrival, at);
  const holds = sql`(${join(tests, " or ")})`;
  return passed.kind === "exact" ? sql`(${passed.holds} and ${holds})` : holds;
}

/** Whether a test and its guards say yes or no and are never unknown. */
export function isExact(writer: Writer, { guards, test }: GuardedTest): boolean {
  return (
    (test.kind === "direct" || test.kind === "self") &&
    guards.every((guard) => writer.exact.has(guard.state))
  );
}

function guardedHolds(
  writer: Writer,
  state: State,
  guarded: GuardedTest,
  at: ReachedEntity,
): Fragment {
  const passed = passage(writer, guarded.guards, at);
  const holds = testHolds(writer, state, guarded.test, at);
  return passed.kind === "exact" ? sql`(${passed.holds} and ${holds})` : holds;
}

/** The verdict of one test behind its own guards. */
export function guardedVerdict(
  writer: Writer,
  state: State,
  { guards, test }: GuardedTest,
  at: ReachedEntity,
): Fragment {
  return behind(passage(writer, guards, at), testVerdict(writer, state, test, at));
}

export function greatest(verdicts: readonly Fragment[]): Fragment {
  const [first] = verdicts;
  if (first === undefined) return sql`0`;
  return verdicts.length === 1 ? first : sql`greatest(${join(verdicts, ", ")})`;
}

function testHolds(writer: Writer, state: State, test: Test, at: ReachedEntity): Fragment {
  switch (test.kind) {
    case "self":
      return sql`${at.id} = ${writer.subjectId}`;
    case "direct":
      return directHolds(writer, {
        id: at.id,
        entityType: literal(state.entityType),
        relations: relationSet(test.relations),
      });
    case "attribute":
    case "rule":
      return sql`${testVerdict(writer, state, test, at)} = 2`;
    default:
      return unreachable(test);
  }
}

/** Is there a tuple from the entity to exactly the subject, under one of the relations? */
export function directHolds(
  writer: Writer,
  at: { readonly id: Fragment; readonly entityType: Fragment; readonly relations: RelationSet },
): Fragment {
  const { subjectType, subjectRelation } = writer.plan.question;
  const probe = relationProbe(writer.scope, sql`1`, at.relations, {
    type: at.entityType,
    id: at.id,
    subject: {
      known: "all",
      type: literal(subjectType),
      relation: literal(subjectRelation),
      id: writer.subjectId,
    },
  });
  // The offset keeps the planner from hashing all grants of the subject, 98 ms for 100 k of them.
  return sql`exists (select 1 from (${probe}) d offset 0)`;
}

function testVerdict(writer: Writer, state: State, test: Test, at: ReachedEntity): Fragment {
  switch (test.kind) {
    case "self":
    case "direct":
      return sql`case when ${testHolds(writer, state, test, at)} then 2 else 0 end`;
    case "attribute":
      return attributeVerdict(writer, state, test.name, at);
    case "rule":
      return ruleVerdict(writer, state, test.rule, at);
    default:
      return unreachable(test);
  }
}
