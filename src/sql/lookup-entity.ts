import { must, unreachable } from "../base/assert.ts";
import type { Test } from "../plan/plan.ts";
import type { RelaxedHop, RelaxedPlan, RelaxedState, RelaxedTest } from "../plan/relax.ts";
import {
  filtered,
  attributeIds,
  attributeOwners,
  knownIds,
  page,
  unorderedPage,
  type Reading,
  tupleIds,
  whole,
} from "./candidate.ts";
import { type Fragment, integer, join, literal, param, sql } from "./fragment.ts";
import { relationProbe, relationSet } from "./relation-set.ts";
import { lateralBranches, type Scope } from "./source.ts";
import { guardedVerdict } from "./test.ts";
import { levelZero, nextLevel, numbered, type Writer } from "./writer.ts";

export interface EntityCandidates {
  readonly scope: Scope;
  readonly relaxed: RelaxedPlan;
  readonly subjectId: Fragment;
  /** Judges tests on the way; undefined when the plan has no SQL: then they are taken to hold. */
  readonly writer: Writer | undefined;
  /** Names of the rules that may hold for an entity without any attribute. */
  readonly openRules: ReadonlySet<string>;
  /** Entity types whose ids are limited to those of the parameter `scope_<type>`. */
  readonly scopedTypes: readonly string[];
}

/** The key of the parameter with the ids to which a type is limited. */
export function scopeKey(entityType: string): string {
  return `scope_${entityType}`;
}

/**
 * The candidates of a lookup of entities, as CTEs: `back` goes from the subject against the hops of
 * the relaxed plan. The last step, to the state of the question, is not among them: it reads a page
 * of its own from each place. The candidates have the columns (id, sure, level): sure is one that
 * the plan accepts if only the arrival guards of the question let it through.
 */
export function entityCandidates(input: EntityCandidates): {
  readonly tables: readonly Fragment[];
  readonly candidates: readonly Fragment[];
} {
  const root = must(input.relaxed.states.get(0), "a plan has its question");
  const back = backTable(input);
  const scopes = input.scopedTypes.map(
    (type, index) =>
      sql`${numbered("scope", index)} as materialized (select s.id collate "C" as id from unnest(${param(scopeKey(type), "text[]")}) s(id))`,
  );
  const accepted = root.tests.map((test) => testCandidates(input, root, test));
  if (back === undefined) return { tables: scopes, candidates: accepted };
  const led = root.hops.flatMap((hop) => hopCandidates(input, root, hop));
  return { tables: [...scopes, back], candidates: [...accepted, ...led] };
}

/** Undefined when no test accepts at a state that a hop leads to. */
function backTable(input: EntityCandidates): Fragment | undefined {
  const states = [...input.relaxed.states.values()];
  const targets = new Set(states.flatMap((state) => state.hops.map((hop) => hop.target)));
  const inner = states.filter((state) => targets.has(state.id));
  const starts = inner.flatMap((state) => state.tests.map((test) => start(input, state, test)));
  if (starts.length === 0) return undefined;
  const begin = join(starts, " union all ");
  const steps = inner.flatMap((state) => state.hops.flatMap((hop) => step(input, state, hop)));
  const columns = sql`back(state, id, level, sure)`;
  if (steps.length === 0) return sql`${columns} as (${begin})`;
  return sql`${columns} as ((${begin}) union select n.state, n.id, ${nextLevel(sql`back.level`)}, back.sure and n.sure from back cross join ${lateralBranches(steps)} n)`;
}

/** The rows of `back` at which a test of an inner state accepts. */
function start(input: EntityCandidates, state: RelaxedState, accepted: RelaxedTest): Fragment {
  const { writer } = input;
  const { test, isSure } = accepted;
  const ids = acceptedIds(input, scoped(input, whole, state), state, test);
  const columns = sql`${integer(state.id)} as state, c.id collate "C" as id, ${levelZero} as level`;
  const sure = isSure ? sql`true` : sql`false`;
  if (test.kind === "self" || test.kind === "direct") {
    return sql`select ${columns}, ${sure} as sure from (${ids}) c`;
  }
  if (writer === undefined) return sql`select ${columns}, false as sure from (${ids}) c`;
  const verdict = verdictAt(writer, state, test, sql`c.id`);
  return sql`select ${columns}, ${sure} and v.v = 2 as sure from (${ids}) c cross join lateral (select ${verdict} as v offset 0) v where v.v > 0`;
}

/** From rows of `back` against a hop, to the entities that it leads from. */
function step(input: EntityCandidates, from: RelaxedState, hop: RelaxedHop): Fragment[] {
  const { wanted } = scoped(input, whole, from);
  const sure = hop.isSure ? sql`true` : sql`false`;
  return subjectRelations(hop).map(({ ofRelation }) =>
    relationProbe(
      input.scope,
      sql`${integer(from.id)} as state, r.entity_id as id, ${sure} as sure`,
      relationSet(hop.relations),
      sql`back.state = ${integer(hop.target)} and r.subject_id = back.id and r.subject_type = ${literal(hop.subjectType)} and ${ofRelation} and r.entity_type = ${literal(from.entityType)} and ${wanted({ id: sql`r.entity_id` })}`,
    ),
  );
}

function hopCandidates(input: EntityCandidates, root: RelaxedState, hop: RelaxedHop): Fragment[] {
  const sure = hop.isSure ? sql`back.sure` : sql`false`;
  return subjectRelations(hop).map(({ ofRelation, reading }) => {
    const ids = tupleIds(input.scope, scoped(input, reading, root), {
      end: "entity",
      relations: hop.relations,
      where: sql`r.subject_id = back.id and r.subject_type = ${literal(hop.subjectType)} and ${ofRelation} and r.entity_type = ${literal(root.entityType)}`,
    });
    return sql`select p.id, ${sure} as sure, ${nextLevel(sql`back.level`)} as level from back cross join lateral (${ids}) p where back.state = ${integer(hop.target)}`;
  });
}

/**
 * A walk goes by all subjects of the type, whatever their relation. Almost all of them have none, and
 * by their index these come in the order of the entities; the others are a probe that finds nothing.
 */
function subjectRelations({
  subjectRelation,
}: RelaxedHop): { readonly ofRelation: Fragment; readonly reading: Reading }[] {
  return subjectRelation === undefined
    ? [
        { ofRelation: sql`r.subject_relation = ''`, reading: page },
        { ofRelation: sql`r.subject_relation > ''`, reading: unorderedPage },
      ]
    : [{ ofRelation: sql`r.subject_relation = ${literal(subjectRelation)}`, reading: page }];
}

/** What a test says at an entity, whatever guards it has. */
function verdictAt(writer: Writer, state: RelaxedState, test: Test, id: Fragment): Fragment {
  const judged = must(writer.plan.states[state.id], "a relaxed state is one of the plan");
  return guardedVerdict(writer, judged, { guards: [], test }, { id, level: levelZero });
}

function testCandidates(
  input: EntityCandidates,
  root: RelaxedState,
  { test, isSure }: RelaxedTest,
): Fragment {
  const reading = scoped(input, page, root);
  const ids = acceptedIds(input, judged(input, reading, root, test), root, test);
  return sql`select c.id collate "C", ${isSure ? sureOf(test) : sql`false`}, ${levelZero} from (${ids}) c`;
}

/**
 * Whether a candidate is accepted is for its check to say, which knows of no scope: one that the
 * test denies must not be found by a way out of it.
 */
function judged(
  { writer, scopedTypes }: EntityCandidates,
  reading: Reading,
  root: RelaxedState,
  test: Test,
): Reading {
  if (writer === undefined || scopedTypes.length === 0) return reading;
  if (test.kind === "self" || test.kind === "direct") return reading;
  // Under a name of its own: what is judged reads attributes under that of the id's own table.
  const verdict = verdictAt(writer, root, test, sql`k.id`);
  return filtered(
    reading,
    (id) => sql`(select ${verdict} > 0 from (select ${id} as id offset 0) k)`,
  );
}

function sureOf(test: Test): Fragment {
  switch (test.kind) {
    case "self":
    case "direct":
      return sql`true`;
    case "attribute":
      return sql`c.is_true`;
    case "rule":
      return sql`false`;
    default:
      return unreachable(test);
  }
}

/** The ids of the entities at which a test may accept. */
function acceptedIds(
  input: EntityCandidates,
  reading: Reading,
  state: RelaxedState,
  test: Test,
): Fragment {
  const { scope, relaxed, subjectId, openRules } = input;
  const { subjectType, subjectRelation } = relaxed.question;
  const { entityType } = state;
  switch (test.kind) {
    case "self":
      return sql`select c.id from (select ${subjectId} as id) c where ${reading.wanted({ id: sql`c.id` })}`;
    case "direct":
      return tupleIds(scope, reading, {
        end: "entity",
        relations: test.relations,
        where: sql`r.subject_id = ${subjectId} and r.subject_type = ${literal(subjectType)} and r.subject_relation = ${literal(subjectRelation)} and r.entity_type = ${literal(entityType)}`,
      });
    case "attribute":
      return attributeIds(scope, reading, entityType, test.name);
    case "rule": {
      const { name, parameters } = test.rule;
      if (!openRules.has(name)) {
        return attributeOwners(scope, reading, entityType, [...parameters.keys()]);
      }
      return knownIds(
        scope,
        reading,
        entityType,
        entityType === subjectType ? subjectId : undefined,
      );
    }
    default:
      return unreachable(test);
  }
}

function scoped(input: EntityCandidates, reading: Reading, { entityType }: RelaxedState): Reading {
  const index = input.scopedTypes.indexOf(entityType);
  if (index < 0) return reading;
  const table = numbered("scope", index);
  return filtered(reading, (id) => sql`(${id} in (select s.id from ${table} s)) is true`);
}
