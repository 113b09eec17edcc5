import { assert } from "../../../base/assert.ts";
import type { Entity, Subject, TenantId } from "../../../base/tuple.ts";
import { ALLOWED } from "../../../base/verdict.ts";
import { interpret, type Interpretation } from "../../../memory/interpret.ts";
import { reachesInScope } from "../../../memory/scope-reach.ts";
import { gatheredEntitiesMax } from "../../../plan/limit.ts";
import type { Lookup } from "../../../sql/lookup.ts";
import type { LookupCheck } from "../../lookup-check.ts";
import type { LookupEntityQuestion, LookupFrame } from "../../store.ts";
import type { Row } from "../connect/row.ts";
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

/** What there is to say of a candidate. */
export interface Answer {
  readonly id: string;
  /** Undefined when the statement could not decide. */
  readonly interpretation: Interpretation | undefined;
}

/** The ids of a page's answers, ascending. */
export function idsOf(row: Row): string[] {
  return listOf(row["answers"]).map((answer) => {
    const [id] = listOf(answer);
    assert(typeof id === "string", "an answer begins with an id");
    return id;
  });
}

/** What a statement decided by itself. */
export function verdictsOf(row: Row): Answer[] {
  return listOf(row["answers"]).map((answer) => {
    const [id, verdict] = listOf(answer);
    assert(typeof id === "string", "an answer begins with an id");
    return { id, interpretation: verdict === ALLOWED ? allowed : undefined };
  });
}

const allowed: Interpretation = { kind: "answer", allowed: true, nodes: 1 };

/** The subject whose tuples were read; undefined when it is subjects that are looked for. */
export function subjectOf({ end, check }: Sought): Subject | undefined {
  return end === "entities" ? check.itemOf("").subject : undefined;
}

/** What the interpreter makes of the facts that a statement read: one by one, as the page needs them. */
export function* interpreted(
  { frame, check, scope }: Sought,
  { plan: judged, lookup }: PlannedLookup,
  ids: readonly string[],
  { nodes, facts }: Gathered,
): Iterable<Answer> {
  const limits = new Map([...scope].map(([type, among]) => [type, new Set(among)]));
  const isInScope = ({ type, id }: Entity): boolean => limits.get(type)?.has(id) ?? true;
  for (const id of ids) {
    if (nodes > gatheredEntitiesMax) {
      yield { id, interpretation: { kind: "too_large" } };
      continue;
    }
    const { entity, subject } = check.itemOf(id);
    const { depth, context } = frame;
    const asked = { facts, entityId: entity.id, subject, depth, data: context.data };
    if (limits.size > 0 && !reachesInScope(lookup.relaxed, { ...asked, isInScope })) continue;
    yield { id, interpretation: interpret(judged, asked) };
  }
}

export function isDenied({ interpretation }: Answer): boolean {
  return interpretation?.kind === "answer" && !interpretation.allowed;
}

function listOf(json: unknown): readonly unknown[] {
  assert(Array.isArray(json), "answers are lists");
  return json;
}
