import { PembaError } from "../../base/error.ts";
import { pause } from "../../base/pause.ts";
import { isOutage } from "./connect/driver-error.ts";
import { onDatabase } from "./connect/on-database.ts";

export interface Patience {
  /** How long the server may be away, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
  /** Called after each attempt that failed and is repeated. */
  readonly onAbsent: (error: unknown) => void;
}

const firstPauseMs = 250;
const longestPauseMs = 5_000;

/** After this long, a route to the server that swallows everything counts as dead. */
const connectTimeoutMs = 5_000;

/** Has the server gone away from work that may be repeated, even if it is not known what a change of it came to? */
export function isAway(error: unknown): boolean {
  return isOutage(error) || (error instanceof PembaError && isOutage(error.cause));
}

/**
 * Does `work` once the server answers, and again when that goes away meanwhile. Waits only for what
 * time may heal: a server that does not run yet, or a name that is not known yet, and no refused
 * login. Fails as the last try did.
 */
export async function onceServerAnswers<T>(
  url: string,
  patience: Patience,
  work: () => Promise<T>,
): Promise<T> {
  const end = performance.now() + patience.timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      await onDatabase(url, async () => {}, connectTimeoutMs);
      return await work();
    } catch (error) {
      const isOver = performance.now() + pauseMs > end;
      if (!isAway(error) || isOver) throw error;
      patience.onAbsent(error);
    }
    await pause(pauseMs, patience.signal);
    patience.signal.throwIfAborted();
  }
}
