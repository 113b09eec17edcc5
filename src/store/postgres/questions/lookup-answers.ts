import { Pace, type Steps } from "../../../base/steps.ts";
import type { Entity, Subject, TenantId } from "../../../base/tuple.ts";
import { reachesInScope } from "../../../memory/forward-walk.ts";
import { GroundBudget } from "../../../memory/ground-budget.ts";
import { interpret, type Interpretation } from "../../../memory/interpret.ts";
import { idSeparator, type Lookup } from "../../../sql/lookup/lookup.ts";
import type { LookupCheck } from "../../question-checks.ts";
import type { LookupEntityQuestion, LookupFrame } from "../../store.ts";
import { optionalTextOf, type Row } from "../connect/row.ts";
import type { Gathered } from "./gathered-facts.ts";
import type { PlannedLookup } from "./lookup-plan.ts";

/** What is asked, whichever end it looks from. */
export interface Sought {
  readonly tenant: TenantId;
  readonly end: Lookup["end"];
  readonly frame: LookupFrame;
  readonly check: LookupCheck;
  /** The id at the other end. */
  readonly askedId: string;
  readonly scope: LookupEntityQuestion["scope"];
}

/** What there is to say of a candidate that the statement did not deny. */
export type CandidateAnswer = { readonly id: string } & (
  | { readonly kind: "allowed" }
  /** The statement could not decide. */
  | { readonly kind: "unknown" }
  /** The interpreter decides, once the page needs it. */
  | { readonly kind: "gathered"; readonly interpretation: () => Steps<Interpretation> }
);

/** The ids of a page's answers, ascending. */
export function idsOf(row: Row): readonly string[] {
  return listOf(row, "answers");
}

/** What a statement decided by itself. */
export function verdictsOf(row: Row, ids: readonly string[]): readonly CandidateAnswer[] {
  const unknown = listOf(row, "unknown");
  if (unknown.length === 0) return ids.map((id) => ({ id, kind: "allowed" }));
  const open = new Set(unknown);
  return ids.map((id) => ({ id, kind: open.has(id) ? "unknown" : "allowed" }));
}

/** The subject whose tuples were read; undefined when it is subjects that are looked for. */
export function subjectOf({ end, check }: Sought): Subject | undefined {
  return end === "entities" ? check.itemOf("").subject : undefined;
}

/** What the interpreter makes of the facts that a statement read, once the page needs it. */
export function interpretedAnswers(
  { frame, check, scope }: Sought,
  { plan, lookup }: PlannedLookup,
  ids: readonly string[],
  { isTooLarge, facts }: Gathered,
): readonly CandidateAnswer[] {
  const limits = new Map([...scope].map(([type, among]) => [type, new Set(among)]));
  const isInScope = ({ type, id }: Entity): boolean => limits.get(type)?.has(id) ?? true;
  const { depth, context } = frame;
  const { data } = context;
  const pace = new Pace();
  return ids.map((id) => ({
    id,
    kind: "gathered",
    interpretation: function* () {
      // A page has many. Most are one step, and work of one step does not look at the time.
      yield;
      if (isTooLarge) return { kind: "too_large" };
      const { entity, subject } = check.itemOf(id);
      const budget = new GroundBudget();
      const asked = { facts, entityId: entity.id, subject, depth, data, budget, pace };
      const scoped = { ...asked, isInScope };
      if (limits.size > 0 && !(yield* reachesInScope(lookup.candidatePlan, scoped))) return denied;
      return yield* interpret(plan, asked);
    },
  }));
}

const denied: Interpretation = { kind: "answer", allowed: false, nodes: 1 };

/** JSON would put each short id into V8's table of strings, which takes longer than all else here. */
function listOf(row: Row, column: string): readonly string[] {
  return optionalTextOf(row, column)?.split(idSeparator) ?? [];
}
