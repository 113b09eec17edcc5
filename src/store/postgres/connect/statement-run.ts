import { cancelled } from "../../../base/error.ts";
import { timerMs } from "../../../base/pause.ts";
import type { Telemetry } from "../../../base/telemetry.ts";
import type { TimerWheel } from "../../../base/timer-wheel.ts";
import type { Cancelling } from "./cancelling.ts";
import { type Connection, backendOf, cancel, rowsOf } from "./connection.ts";
import { isCancelled, isRefused, storageError } from "./driver-error.ts";
import { type LateWork, endedLate, saidNothing } from "./lateness.ts";
import type { Row } from "./row.ts";
import { statementName } from "./statement-file.ts";
import type { ParameterValue } from "./value.ts";

/** Whose change a statement makes: a caller, or several. */
export interface Changer {
  /** Aborted when the change is not wanted any more. */
  readonly signal: AbortSignal;
  /** When it is given up, by the clock of `performance`. Undefined: never. */
  readonly changeEndsAt: number | undefined;
  /** Called when the statement is sent. */
  sendsChange(): void;
  /** Called when it is known that nothing of it was done. */
  undoesChange(): void;
}

/** A statement to be run. */
export interface StatementRequest {
  readonly text: string;
  /** A function is called each time when the statement is sent. */
  readonly values: readonly ParameterValue[] | (() => readonly ParameterValue[]);
  readonly work: LateWork;
  /** Aborted when the caller has left. A change that was sent goes on all the same. */
  readonly signal: AbortSignal | undefined;
  /** By the clock of `performance`; undefined: when it is done. */
  readonly endsAt: number | undefined;
  readonly changer: Changer | undefined;
}

/** Where a statement is run. */
export interface StatementTarget {
  readonly connection: Connection;
  readonly isWorthPreparing: boolean;
  readonly cancelling: Cancelling;
  readonly timers: TimerWheel;
  /** A connection that says nothing for so long after a cancellation is ended. */
  readonly silenceMs: number;
  /** Called when the statement is over, which may be later than the answer: has its connection a future? */
  readonly free: (isGood: boolean) => void;
}

/** A server that is there says in less that it has ended what it was to end. */
const graceMs = 250;

/**
 * The rows of a statement; undefined when it was hit by a cancellation that was meant for another one and
 * came too late. A statement whose caller has left, or whose time is over, is cancelled on the server, and
 * fails soon after even if the server says nothing. Fails with an error of the table.
 */
export function runStatement(
  { text, values, work, signal, endsAt, changer }: StatementRequest,
  { connection, isWorthPreparing, cancelling, timers, silenceMs, free }: StatementTarget,
): Promise<readonly Row[] | undefined> {
  const present = typeof values === "function" ? values() : values;
  const sent = connection.send(text, present, isWorthPreparing);
  const isChange = work === "change";
  if (isChange) changer?.sendsChange();
  const { promise, resolve, reject } = Promise.withResolvers<readonly Row[] | undefined>();
  let isLate = false;
  let isDead: NodeJS.Timeout | undefined;
  let isSilent: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    // The driver cancels once, however often it is asked: more than that must not be expected.
    if (isDead !== undefined) return;
    cancelling.sent(backendOf(sent));
    cancel(sent);
    isDead = setTimeout(() => void connection.close(), silenceMs);
    isSilent = setTimeout(() => reject(isLate ? saidNothing(work) : cancelled(undefined)), graceMs);
  };
  const end = (): void => {
    isLate = true;
    giveUp();
  };
  const leaving = isChange ? undefined : signal;
  leaving?.addEventListener("abort", giveUp, { once: true });
  const timer = endsAt === undefined ? undefined : timers.set(endsAt, end);
  const over = (isGood: boolean): void => {
    if (timer !== undefined) timers.cancel(timer);
    clearTimeout(isDead);
    clearTimeout(isSilent);
    leaving?.removeEventListener("abort", giveUp);
    free(isGood);
  };
  rowsOf(sent).then(
    (rows) => {
      over(true);
      resolve(rows);
    },
    (thrown: unknown) => {
      const error = storageError(thrown);
      // After a statement that failed for a reason of its own the connection is as good as before.
      const isGood = error.kind !== "unavailable";
      const isAnswered = isGood || isRefused(error);
      const isOurs = isCancelled(error) && cancelling.hit(backendOf(sent));
      over(isGood);
      if (isAnswered) changer?.undoesChange();
      if (leaving?.aborted === true) reject(cancelled(error));
      else if (isOurs && !isLate) resolve(undefined);
      else if (!isLate) reject(error);
      else reject(isAnswered ? endedLate(work, error) : saidNothing(work, error));
    },
  );
  return promise;
}

/** In milliseconds as a timer takes them, at least one; 0: without end. */
export function timeLeft(endsAt: number | undefined): number {
  return endsAt === undefined ? 0 : timerMs(Math.max(1, endsAt - performance.now()));
}

/** Runs a statement and reports its name, its time and the number of its rows, never its values. */
export async function tellStatement(
  telemetry: Telemetry,
  text: string,
  run: () => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { tally } = telemetry;
  const name = statementName(text) ?? tally?.question ?? "other";
  if (tally !== undefined) tally.statements += 1;
  const start = performance.now();
  try {
    return await telemetry.span(`statement ${name}`, async (span) => {
      span.set({ "db.system.name": "postgresql", "db.query.summary": name });
      const rows = await run();
      span.set({ "db.response.returned_rows": rows.length });
      return rows;
    });
  } finally {
    const seconds = (performance.now() - start) / 1_000;
    telemetry.record("db.client.operation.duration", seconds, { "db.query.summary": name });
  }
}
