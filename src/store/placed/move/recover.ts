import { randomUUID } from "node:crypto";

import { errorOf } from "../../../base/error.ts";
import { finish, goBackToSource, type MoveSides } from "./end-move.ts";
import { moveLeaseMs } from "./move.ts";
import type { MoveNotes, Mover, NotedMove } from "./notes.ts";
import { type MovePlace, onClusterDatabases, sidesOn } from "./on-databases.ts";

const recoveredMax = 1_000;

/** A database that is silent for so long does not keep the moves between others waiting. */
export const statementMaxMs = 10_000;

export interface RecoveryPlace extends MovePlace {
  /** The notes of the directory, as this process reads and continues them. */
  readonly notesOf: (mover: Mover) => MoveNotes;
}

/**
 * Has tenants served again whose move broke off while no cluster served them: at the target if the switch was
 * made, at the source otherwise. A move that was led back goes on when its command is run again.
 * One that cannot be ended, since a database does not answer, does not keep the others waiting.
 */
export async function recoverMoves(
  { notesOf, ...place }: RecoveryPlace,
  signal: AbortSignal,
  leaseMs = moveLeaseMs,
): Promise<void> {
  const notes = notesOf({ id: randomUUID(), leaseMs });
  const failures: unknown[] = [];
  await onClusterDatabases(
    place,
    async (connect) => {
      for (const left of await notes.left(recoveredMax)) {
        if (signal.aborted) return;
        try {
          const move = await notes.take(left.tenant);
          if (move !== undefined) await recover(sidesOn(connect, notes, move), move);
        } catch (error) {
          if (errorOf(error).code !== "TENANT_NOT_FOUND") failures.push(error);
        }
      }
    },
    statementMaxMs,
  );
  if (failures.length > 0) throw failures[0];
}

async function recover(sides: MoveSides, move: NotedMove): Promise<void> {
  if (move.step === "switched" || move.step === "removing") await finish(sides, move);
  else await goBackToSource(sides, move);
}
