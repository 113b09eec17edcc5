import { unreachable } from "../../base/assert.ts";
import type { AttributeType } from "../../base/tuple.ts";
import { allParts } from "../../condition/parts.ts";
import type { RuleDefinition } from "../../language/schema.ts";
import type { GuardedTest, State, Test } from "../../plan/plan.ts";
import { translateCondition } from "../condition/translate.ts";
import { relationProbe, relationSet, type RelationSet } from "../state/relation-set.ts";
import { attributeProbe } from "../state/source.ts";
import { type Fragment, identifier, integer, join, literal, sql } from "../text/fragment.ts";
import { behind, passage } from "./guard.ts";
import { data, numbered, type ReachedEntity, type Writer } from "./writer.ts";

/** A plan that has no SQL, because of a rule or of its size. It is gathered instead. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";
}

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

function attributeVerdict(writer: Writer, state: State, name: string, at: ReachedEntity): Fragment {
  const probe = attributeProbe(
    writer.scope,
    { type: literal(state.entityType), id: at.id },
    literal(name),
  );
  return sql`
    coalesce(
      (
        select case
          when a.value_type <> 'boolean' then 1
          when a.value = 'true'::jsonb then 2
          else 0
        end
        from (${probe}) a
      ),
      0
    )
  `;
}

/**
 * The condition may refer to a parameter and to the data many times. So each of them is a column that
 * is computed once: `offset 0` keeps Postgres from inlining it.
 */
function ruleVerdict(
  writer: Writer,
  state: State,
  rule: RuleDefinition,
  at: ReachedEntity,
): Fragment {
  const parameters = [...rule.parameters];
  const number = writer.number();
  const values = numbered("v", number);
  const row = (index: number): Fragment => identifier(`p${number}_${index}`);
  const translated = translateCondition(rule.condition.tree, {
    parameter: (name) => {
      const index = parameters.findIndex(([parameter]) => parameter === name);
      return sql`${values}.${identifier(`p${index}`)}`;
    },
    data: sql`${values}.data`,
  });
  if (translated.kind === "untranslatable") {
    throw new Untranslatable(`rule \`${rule.name}\`: ${translated.reason}`);
  }
  const rows = parameters.map(([name], index) => {
    const entity = { type: literal(state.entityType), id: at.id };
    const probe = attributeProbe(writer.scope, entity, literal(name));
    return sql`left join lateral (${probe}) ${row(index)} on true`;
  });
  const columns = [
    sql`${data} as data`,
    ...parameters.map(
      ([, type], index) => sql`${typedValue(type, row(index))} as ${identifier(`p${index}`)}`,
    ),
  ];
  const isSmall = copiesLittle(rule, (name) => sql`${values}.${identifier(name)}`);
  const typed = parameters.map(([, type], index) => isTyped(type, row(index)));
  const isFit = typed.length === 0 ? sql`true` : join(typed, " and ");
  return sql`
    (
      select case
        when ${values}.fit${isSmall} then case ${translated.expression}
          when true then 2
          when false then 0
          else 1
        end
        else 1
      end
      from (
        select ${join(columns, ", ")}, ${isFit} as fit
        from (select 1) one
        ${join(rows, " ")}
        offset 0
      ) ${values}
    )
  `;
}

/**
 * Each part of a rule may copy what it reads, and Postgres keeps all copies until the rule is done. Rules of this many
 * parts copy little of what a request can bring.
 */
const fewParts = 16;

/** The most bytes of what a rule reads, for each of its parts. */
const copiedMax = 64_000_000;

/**
 * Whether a rule reads so little that all its parts may copy it, as a further condition on the columns of its values;
 * empty if it cannot read much. What does not meet it is left to the interpreter, which copies nothing.
 */
function copiesLittle(
  { parameters, condition }: RuleDefinition,
  column: (name: string) => Fragment,
): Fragment {
  const parts = [...allParts(condition.tree)];
  if (parts.length <= fewParts) return sql``;
  const large = [...parameters.values()].flatMap((type, index) =>
    type === "string" || type.endsWith("[]") ? [`p${index}`] : [],
  );
  if (parts.some(({ kind }) => kind === "data")) large.push("data");
  if (large.length === 0) return sql``;
  const sizes = large.map((name) => sql`pg_column_size(${column(name)})::bigint`);
  return sql` and ${join(sizes, " + ")} <= ${integer(Math.floor(copiedMax / parts.length))}`;
}

/**
 * The typed value of an attribute, as conditions take it, from a row with `value_type` and `value`
 * or nulls when there is none: then the default of the type. Only meaningful when `isTyped` holds.
 */
function typedValue(type: AttributeType, row: Fragment): Fragment {
  const text = sql`(${row}.value #>> '{}')`;
  const elements = sql`
    (
      select array_agg(e.value order by e.position)
      from jsonb_array_elements_text(${row}.value)
      with ordinality as e(value, position)
    )
  `;
  const of = (value: Fragment, fallback: Fragment): Fragment =>
    sql`
      case
        when ${row}.value_type = ${literal(type)} then coalesce(${value}, ${fallback})
        else ${fallback}
      end
    `;
  switch (type) {
    case "boolean":
      return of(sql`${text}::boolean`, sql`false`);
    case "string":
      return of(sql`${text} collate "C"`, sql`'' collate "C"`);
    case "integer":
      return of(sql`${text}::bigint`, sql`0::bigint`);
    case "double":
      return of(sql`${text}::double precision`, sql`0::double precision`);
    case "boolean[]":
      return of(sql`${elements}::boolean[]`, sql`'{}'::boolean[]`);
    case "string[]":
      return of(sql`${elements}::text[] collate "C"`, sql`'{}'::text[] collate "C"`);
    case "integer[]":
      return of(sql`${elements}::bigint[]`, sql`'{}'::bigint[]`);
    case "double[]":
      return of(sql`${elements}::double precision[]`, sql`'{}'::double precision[]`);
    default:
      return unreachable(type);
  }
}

/** False when the stored value has another type than the schema in force. */
function isTyped(type: AttributeType, row: Fragment): Fragment {
  return sql`(${row}.value_type is null or ${row}.value_type = ${literal(type)})`;
}
