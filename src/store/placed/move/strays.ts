import { randomUUID } from "node:crypto";

import { errorOf } from "../../../base/error.ts";
import { oneOf, tenantIdOf, textOf } from "../../postgres/connect/row.ts";
import { statementFile } from "../../postgres/connect/statement-file.ts";
import { isCode } from "../tenants.ts";
import type { MoveDatabase, MoveNotes } from "./notes.ts";
import { onClusterDatabases } from "./on-databases.ts";
import { type RecoveryPlace, statementMaxMs } from "./recover.ts";
import { MoveSource } from "./source.ts";
import { MoveTarget } from "./target.ts";

const straysStatement = statementFile("placement/move-strays.sql");

const straysMax = 1_000;

/**
 * Removes what is noted at sources and targets of moves that are not under way. A process that was held up for long notes
 * itself there although its move was ended by another one, and may be gone before it undoes that. Nothing else would
 * remove what it has noted while the tenant does not move again. Resolves to false if a database does not answer, which
 * does not keep the others waiting.
 */
export async function removeStrays(
  { notesOf, clusters, ...place }: RecoveryPlace & { readonly clusters: readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const notes = notesOf({ id: randomUUID(), leaseMs: 0 });
  let isComplete = true;
  await onClusterDatabases(
    place,
    async (connect) => {
      for (const cluster of clusters) {
        if (signal.aborted) return;
        try {
          await removeAt(connect(cluster), notes);
        } catch (error) {
          if (!["unavailable", "cancelled"].includes(errorOf(error).kind)) throw error;
          isComplete = false;
        }
      }
    },
    statementMaxMs,
  );
  return isComplete;
}

async function removeAt(database: MoveDatabase, notes: MoveNotes): Promise<void> {
  const rows = await database.query(straysStatement, [straysMax]);
  if (rows.length === 0) return;
  // A move is noted in the directory before it is here, and until after it. So the directory is asked afterwards.
  const idle = await notes.idle(rows.map((row) => tenantIdOf(row)));
  for (const row of rows) {
    const tenant = tenantIdOf(row);
    if (!idle.has(tenant)) continue;
    const mover = textOf(row, "mover");
    try {
      if (oneOf(row, "side", ["source", "target"]) === "source")
        await new MoveSource(database, mover).stay(tenant);
      else await new MoveTarget(database, mover).abandon(tenant);
    } catch (error) {
      // A move of the tenant has begun since.
      if (!isCode(error, "SERIALIZATION")) throw error;
    }
  }
}
