import type { Schema } from "../language/schema.ts";
import { buildNetwork } from "../plan/network.ts";
import type { Plan } from "../plan/plan.ts";
import { type Body, checkStatement, type CheckShape } from "./check.ts";
import { gatherOf } from "./gather-plan.ts";
import { Untranslatable } from "./test.ts";

/** How a plan is asked of the database. */
export interface PushDown {
  readonly body: Body;
  /** Why a plan that is a search is gathered all the same: a rule of it has no SQL. */
  readonly obstacle: string | undefined;
}

/** One item, at the head, without context. */
export const plainShape: CheckShape = {
  bulk: false,
  pinned: false,
  pinnedVersion: false,
  contextTuples: false,
  contextAttributes: false,
};

/** A search is pushed down unless a rule of it has no SQL; everything else is gathered. */
export function pushDown(schema: Schema, plan: Plan): PushDown {
  if (plan.kind === "network") return { body: gatherBody(schema, plan), obstacle: undefined };
  const body: Body = { kind: "search", plan };
  try {
    // A rule in another shape is the same rule: one attempt tells for all.
    checkStatement([body], plainShape);
    return { body, obstacle: undefined };
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    return { body: gatherBody(schema, plan), obstacle: error.message };
  }
}

/** Reads the facts of a plan for the interpreter, whether or not it could be pushed down. */
export function gatherBody(schema: Schema, plan: Plan): Body {
  const network = plan.kind === "network" ? plan.network : buildNetwork(schema, plan.question);
  return { kind: "gather", gather: gatherOf(network, plan.question) };
}
