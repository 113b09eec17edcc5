import { must, unreachable } from "../../base/assert.ts";
import type { CandidatePlan, CandidateState } from "../../plan/passes/5-drop-guards.ts";
import type { Test } from "../../plan/plan.ts";
import type { RelationName } from "../../plan/relations-with.ts";
import { guardedVerdict } from "../search/test.ts";
import { levelZero, type Writer } from "../search/writer.ts";
import type { StatementScope } from "../state/source.ts";
import { type Fragment, sql } from "../text/fragment.ts";
import type { IdReading } from "./candidate.ts";
import { attributeIds, attributeOwners, knownIds } from "./known-ids.ts";
import type { ScopedTypes } from "./scoped-types.ts";

/** What the candidates of a lookup of entities are found from. */
export interface EntityCandidates {
  readonly scope: StatementScope;
  readonly candidatePlan: CandidatePlan;
  readonly subjectId: Fragment;
  /** Which of the candidates are read. */
  readonly reading: IdReading;
  /** The CTE `back` with rows that an earlier statement found; undefined: the statement searches. */
  readonly back?: Fragment | undefined;
  /** Judges tests of the search. Undefined when the plan has no SQL: then tests are taken to hold. */
  readonly writer: Writer | undefined;
  /** Names of the rules that may hold for an entity without any attribute. */
  readonly openRules: ReadonlySet<string>;
  readonly limits: ScopedTypes;
  /**
   * How many entities at inner states are judged at most (null: as many as there are candidates that are not sure),
   * which needs the CTE `candidates` (see `judgedInner`). Undefined: none.
   */
  readonly innerMax?: Fragment | undefined;
  /** The relations of the schema that subjects of a type and relation may have. */
  readonly relationsWith: (subjectType: string, subjectRelation: string) => readonly RelationName[];
}

/** Tests that a single tuple of the subject does not decide. */
export type NotDirect = Exclude<Test, { readonly kind: "direct" }>;

/** The ids of the entities at which a test may accept. */
export function acceptedIds(
  input: EntityCandidates,
  reading: IdReading,
  { entityType }: CandidateState,
  test: NotDirect,
): Fragment {
  const { scope, candidatePlan, subjectId, openRules } = input;
  const { subjectType } = candidatePlan.question;
  switch (test.kind) {
    case "self":
      return sql`
        select c.id from (select ${subjectId} as id) c where ${reading.wanted({ id: sql`c.id` })}
      `;
    case "attribute":
      return attributeIds(scope, reading, entityType, test.name);
    case "rule": {
      const { name, parameters } = test.rule;
      if (!openRules.has(name)) {
        return attributeOwners(scope, reading, entityType, [...parameters.keys()]);
      }
      const named = entityType === subjectType ? subjectId : undefined;
      return knownIds(scope, reading, entityType, named);
    }
    default:
      return unreachable(test);
  }
}

/** The verdict of a test at an entity, without its guards. */
export function verdictAt(
  writer: Writer,
  state: CandidateState,
  test: Test,
  id: Fragment,
): Fragment {
  const judged = must(writer.plan.states[state.id], "a candidate state is one of the plan");
  return guardedVerdict(writer, judged, { guards: [], test }, { id, level: levelZero });
}
