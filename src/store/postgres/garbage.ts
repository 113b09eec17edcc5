import { reasonOf } from "../../base/error.ts";
import { timerMs } from "../../base/pause.ts";
import { BackgroundLoop } from "../background-loop.ts";
import {
  type GarbageCollectionOptions,
  type GarbagePass,
  wakeEveryMs,
} from "../garbage-collection.ts";
import type { Database } from "./connect/database.ts";
import { booleanOf, numberOf, onlyRow, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";

const noteStatement = statementFile("garbage/note.sql");
const beginStatement = statementFile("garbage/begin.sql");
const removeStatement = statementFile("garbage/remove.sql");
const endStatement = statementFile("garbage/end.sql");
const previewStatement = statementFile("garbage/preview.sql");

/** Some tens of milliseconds. */
const changesPerBatch = 5_000;

/** What a pass would do. */
export interface GarbagePreview {
  /** The transaction id below which history would go. */
  readonly horizon: string;
  /** Changes in the log, and how many of them would go. */
  readonly logged: number;
  readonly expired: number;
}

export interface GarbageWindow extends Pick<GarbageCollectionOptions, "windowMs" | "timeoutMs"> {
  /**
   * Go by the times in the log, too, and not only by what collectors noted: a token of the window
   * is then refused that was given out while a transaction from before it was open.
   */
  readonly byLog: boolean;
}

/**
 * Collects the garbage of a database, now: tokens from before the window are refused from then on,
 * and the log loses in small batches what only they could need. Several collectors at once do no
 * harm: one of them goes on. It stops where it is when its time is over or the signal aborts.
 */
export async function collectGarbage(
  database: Database,
  { windowMs, timeoutMs, byLog }: GarbageWindow,
  signal?: AbortSignal,
): Promise<GarbagePass> {
  const start = performance.now();
  const timeout = AbortSignal.timeout(timerMs(timeoutMs));
  const stop = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  let removed = 0;
  let isComplete = false;
  try {
    await database.query(beginStatement, [windowMs, byLog], stop);
    for await (const batch of batches(database, stop)) {
      removed += batch.removed;
      isComplete = batch.isLast;
    }
    if (isComplete) await database.query(endStatement, []);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return { removed, isComplete, milliseconds: performance.now() - start };
}

/** What `collectGarbage` would do now, by the log too. It changes nothing. */
export async function previewGarbage(
  database: Database,
  windowMs: number,
): Promise<GarbagePreview> {
  const row = onlyRow(await database.query(previewStatement, [windowMs]));
  return {
    horizon: textOf(row, "horizon"),
    logged: numberOf(row, "logged"),
    expired: numberOf(row, "expired"),
  };
}

/** Collects in the background when a pass is due, counting those of other instances. */
export function startGarbageCollection(
  database: Database,
  options: GarbageCollectionOptions,
  tell: {
    readonly collected: (pass: GarbagePass) => void;
    readonly warn: (message: string) => void;
    /** Removes what else nothing of the window needs, given in milliseconds. */
    readonly removeUnused?:
      | ((windowMs: number, signal: AbortSignal) => Promise<unknown>)
      | undefined;
  },
): BackgroundLoop {
  const everyMs = wakeEveryMs(options);
  return new BackgroundLoop({
    everyMs,
    work: async (signal) => {
      const isDue = await note(database, everyMs, options, signal);
      if (!isDue) return;
      await tell.removeUnused?.(options.windowMs, signal);
      tell.collected(await collectGarbage(database, { ...options, byLog: false }, signal));
    },
    failed: (error) =>
      tell.warn(`old history could not be removed, it is tried again: ${reasonOf(error)}`),
  });
}

interface Batch {
  readonly removed: number;
  readonly isLast: boolean;
}

/** Removes one batch after another, until nothing is left or another collector is at work. */
async function* batches(database: Database, stop: AbortSignal): AsyncIterable<Batch> {
  let place: readonly [tenant: string, xid: string, ordinal: number] = ["0", "0", 0];
  for (;;) {
    const values = [...place, changesPerBatch];
    const row = onlyRow(await database.query(removeStatement, values, stop));
    if (!booleanOf(row, "is_alone")) return;
    const isLast = booleanOf(row, "is_last");
    yield { removed: numberOf(row, "removed"), isLast };
    if (isLast) return;
    place = [textOf(row, "tenant"), textOf(row, "xid"), numberOf(row, "ordinal")];
  }
}

/** Notes how old the present is. Returns whether the last pass ended long enough ago. */
async function note(
  database: Database,
  everyMs: number,
  { intervalMs }: GarbageCollectionOptions,
  signal: AbortSignal,
): Promise<boolean> {
  // Several instances share the notes; some are a little early.
  const values = [everyMs / 2, intervalMs];
  return booleanOf(onlyRow(await database.query(noteStatement, values, signal)), "is_due");
}
