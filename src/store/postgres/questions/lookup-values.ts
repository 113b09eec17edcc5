import type { Footprint } from "../../../sql/footprint.ts";
import type { Lookup, LookupShape } from "../../../sql/lookup/lookup.ts";
import { scopeKey } from "../../../sql/lookup/scoped-types.ts";
import { type ParameterValue, arrayLiteral } from "../connect/value.ts";
import type { PinnedState } from "../token/snap-token.ts";
import { frameValues } from "./check-values.ts";
import type { Sought } from "./lookup-answers.ts";
import type { PlannedLookup } from "./lookup-plan.ts";

/**
 * How many candidates are read at first and at most: a few more than are wanted, since some will be
 * denied. Of those that are gathered facts are read whether or not the page needs them.
 */
export function batchSizes(
  { judge }: Lookup,
  wanted: number,
): { readonly first: number; readonly max: number } {
  const first = 2 * wanted + 50;
  return judge.kind === "gather"
    ? { first: Math.min(first, 500), max: 500 }
    : { first, max: Math.max(first, 50_000) };
}

/**
 * From this number of candidates on, entities are judged together. Below it, what this adds to the start of the
 * statement is a tenth of the cost for a subject who sees nothing. For subjects it makes the statement shorter.
 */
const manyCandidates = 500;

export function shapeOf(
  { end, frame, scope }: Sought,
  planned: PlannedLookup,
  {
    openRules,
    size,
    oneByOne,
    tellsShown,
  }: Pick<LookupShape, "openRules" | "tellsShown"> & {
    readonly size: number;
    readonly oneByOne: boolean;
  },
): LookupShape {
  const { candidatePlan } = planned.lookup;
  const areMany = end === "subjects" || size >= manyCandidates;
  const types = new Set([...candidatePlan.states.values()].map(({ entityType }) => entityType));
  return {
    pinned: frame.snapToken !== undefined,
    pinnedVersion: frame.schemaVersion !== undefined,
    contextTuples: frame.context.tuples.length > 0,
    contextAttributes: frame.context.attributes.length > 0,
    openRules,
    scopedTypes: [...scope.keys()].filter((type) => types.has(type)).toSorted(),
    judgesTogether: planned.lookup.judge.kind === "search" && !oneByOne && areMany,
    tellsShown: tellsShown && frame.snapToken === undefined,
  };
}

export function valuesOf(
  { tenant, frame, askedId, scope }: Sought,
  read: {
    readonly state: PinnedState | undefined;
    readonly params: readonly string[];
    readonly footprint: Footprint;
    readonly candidates: number;
    readonly answers: number;
  },
): ReadonlyMap<string, ParameterValue> {
  const values = frameValues(tenant, frame, read);
  values.set("id", askedId);
  values.set("after", frame.after ?? "");
  values.set("candidates", read.candidates);
  values.set("answers", read.answers);
  for (const [type, ids] of scope) values.set(scopeKey(type), arrayLiteral(ids));
  return values;
}
