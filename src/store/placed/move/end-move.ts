import type { TenantId } from "../../../base/tuple.ts";
import { tenantNotFound } from "../../store-error.ts";
import { type MoveNotes, type NotedMove, takenOver } from "./notes.ts";
import type { MoveSource } from "./source.ts";
import type { MoveTarget } from "./target.ts";

/** The three databases of a move. Two of them may be the same. */
export interface MoveSides {
  readonly notes: MoveNotes;
  readonly source: MoveSource;
  readonly target: MoveTarget;
}

/**
 * Has the source serve a tenant again, if the move that refuses it has not been switched. Resolves to the
 * number of the tenant at the source. If the tenant was deleted, ends the move and fails with
 * TENANT_NOT_FOUND.
 */
export async function goBackToSource(sides: MoveSides, { tenant }: NotedMove): Promise<string> {
  const { notes, source } = sides;
  await refuseLate(notes, tenant);
  const departure = await source.depart(tenant);
  await refuseLate(notes, tenant);
  if (departure === undefined || departure.isGone) {
    await abandon(sides, tenant);
    throw tenantNotFound(tenant);
  }
  if (departure.isHidden && !(await source.show(departure.number))) throw takenOver();
  if (!(await notes.resume(tenant))) throw takenOver();
  return departure.number;
}

/**
 * Fails if another process moves the tenant by now. A process that was held up for long notes itself at the source or
 * the target although another one has taken over. So it asks afterwards, before it changes anything. If another process
 * takes over later, the change finds another name there, or comes before all that the other one does.
 */
export async function refuseLate(notes: MoveNotes, tenant: TenantId): Promise<void> {
  if (!(await notes.seen(tenant))) throw takenOver();
}

/** Takes a move back that was not switched: the tenant stays at the source, and what was copied is left to be removed. */
export async function takeBack(sides: MoveSides, move: NotedMove): Promise<void> {
  await goBackToSource(sides, move);
  await abandon(sides, move.tenant);
}

/**
 * Ends a move that was switched: the target serves the tenant, and the rows at the source are left to be
 * removed. The source is asked last, so it may be gone until then.
 */
export async function finish(sides: MoveSides, { tenant, step }: NotedMove): Promise<void> {
  const { notes, target } = sides;
  if (step !== "removing") {
    // The process that made the switch may have told the target already.
    await target.takeOver(tenant);
    await target.receive(tenant);
    if (!(await notes.settle(tenant))) throw takenOver();
  }
  await leaveSource(sides, tenant);
}

/** Ends a move whose target serves the tenant. A process that was held up for long may have put its name at the source. */
export async function leaveSource({ notes, source }: MoveSides, tenant: TenantId): Promise<void> {
  await source.takeOver(tenant);
  await source.leave(tenant);
  await notes.end(tenant);
}

/** The target is to forget the tenant, which is gone or stays at the source. */
async function abandon({ notes, source, target }: MoveSides, tenant: TenantId): Promise<void> {
  await target.takeOver(tenant);
  await refuseLate(notes, tenant);
  await target.abandon(tenant);
  await source.stay(tenant);
  // A tenant that was created anew under the id of one that is gone is placed, and does not move.
  if (!(await notes.resume(tenant))) throw takenOver();
  await notes.end(tenant);
}
