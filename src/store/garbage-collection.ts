import type { Telemetry } from "../base/telemetry.ts";

/** How much of the past is kept, and how the rest goes. */
export interface GarbageCollectionOptions {
  /** From the end of one pass to the next. */
  readonly intervalMs: number;
  /** Tokens younger than this stay good. */
  readonly windowMs: number;
  /** After which a pass stops where it is; the next one goes on. */
  readonly timeoutMs: number;
}

/** What one pass did. */
export interface GarbagePass {
  readonly removed: number;
  /** False when its time was over before all was removed, or another instance was at it. */
  readonly isComplete: boolean;
  readonly milliseconds: number;
}

/** Tokens live up to this part of the window longer than it says: so often its edge is noted. */
const noteShare = 0.1;
const noteMinMs = 1_000;
const noteMaxMs = 3_600_000;

/** Without collection in the background, `pemba gc` may run at any time and with any window. */
const quietMaxMs = 600_000;

/** How long a stream may be silent: after that its last token would be old for the window. */
export function quietMs(collection: GarbageCollectionOptions | undefined): number {
  const share = (collection?.windowMs ?? Infinity) * noteShare;
  return Math.min(Math.max(share, noteMinMs), quietMaxMs);
}

/** How often a collector wakes, to note how old the present is and to see whether a pass is due. */
export function wakeEveryMs({ intervalMs, windowMs }: GarbageCollectionOptions): number {
  const note = Math.min(Math.max(windowMs * noteShare, noteMinMs), noteMaxMs);
  return Math.min(intervalMs, note);
}

/** Reports the age of what is kept and how much was removed. The result is to be called after each pass. */
export function observeGarbage(
  { add, observe }: Pick<Telemetry, "add" | "observe">,
  { windowMs }: Pick<GarbageCollectionOptions, "windowMs">,
): (pass: GarbagePass) => void {
  let began: number | undefined;
  // Where no pass comes to its end, that is known as well.
  let ended = performance.now();
  const since = (time: number | undefined, more: number) =>
    time === undefined ? [] : [{ value: (performance.now() - time + more) / 1_000, labels: {} }];
  observe("pemba.history.horizon.age", () => since(began, windowMs));
  observe("pemba.history.collected.age", () => since(ended, 0));
  return ({ removed, isComplete, milliseconds }) => {
    add("pemba.history.removed", removed, {});
    began = performance.now() - milliseconds;
    if (isComplete) ended = performance.now();
  };
}
