import { runThrough, type Steps } from "../base/steps.ts";
import type { Schema } from "../language/schema.ts";
import { dropGuards } from "../plan/passes/5-drop-guards.ts";
import { collapse } from "../plan/passes/6-collapse.ts";
import type { Plan, SearchPlan } from "../plan/plan.ts";
import { checkStatement, type CheckShape, type PlannedBody } from "./check.ts";
import { type Gather, gatherOf } from "./gather/gather.ts";
import { sharedSearch } from "./lookup/shared-search.ts";
import { Untranslatable } from "./search/writer.ts";

/** How a search is sent to the database, or why it is gathered instead. */
export type PushDown =
  | { readonly kind: "pushed_down"; readonly body: PlannedBody; readonly characters: number }
  | { readonly kind: "untranslatable"; readonly obstacle: string };

/** One item, at the head, without context. */
export const plainShape: CheckShape = {
  bulk: false,
  pinned: false,
  pinnedVersion: false,
  contextTuples: false,
  contextAttributes: false,
};

/** A longer statement takes longer to read than a gather takes. */
export const charactersMax = 250_000;

/** What is said of a longer one. */
export const tooLong = "its statement is too long";

/** A search is pushed down unless a rule of it has no SQL or its statement gets too long. */
export function pushDown(plan: SearchPlan): PushDown {
  const body: PlannedBody = { kind: "search", plan };
  try {
    // The SQL of a rule is the same in every shape, so one attempt is enough.
    const { text } = checkStatement([body], plainShape);
    if (text.length <= charactersMax) {
      return { kind: "pushed_down", body, characters: text.length };
    }
    return { kind: "untranslatable", obstacle: tooLong };
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    return { kind: "untranslatable", obstacle: error.message };
  }
}

/**
 * How a search that can be pushed down is asked in bulk of items that have their subject or their entity
 * in common. Undefined where they share nothing, or if the statement gets too long.
 */
export function pushDownShared(
  common: "subject" | "entity",
  plan: SearchPlan,
  schema: Schema,
): { readonly body: PlannedBody; readonly characters: number } | undefined {
  const shared = sharedSearch(common, plan, { candidatePlan: dropGuards(plan), schema });
  if (shared === undefined) return undefined;
  const body: PlannedBody = { kind: "search", plan, shared };
  try {
    const { text } = checkStatement([body], { ...plainShape, bulk: true });
    return text.length <= charactersMax ? { body, characters: text.length } : undefined;
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    return undefined;
  }
}

/** How one question is asked by itself; `obstacle`: why a search of it is gathered. */
export function askedAlone(plan: Plan): {
  readonly body: PlannedBody;
  readonly obstacle: string | undefined;
} {
  const pushed = plan.kind === "search" ? pushDown(plan) : undefined;
  if (pushed?.kind === "pushed_down") return { body: pushed.body, obstacle: undefined };
  const gather = runThrough(gatherFor(plan));
  return { body: { kind: "gather", gather }, obstacle: pushed?.obstacle };
}

/** The gather of a plan, also of a search that could be pushed down. */
export function* gatherFor({ network, root }: Plan): Steps<Gather> {
  return gatherOf(yield* collapse(network, [root]));
}
