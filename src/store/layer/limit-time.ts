import { Caller, forCaller, presentCaller } from "../../base/caller.ts";
import { PembaError, unsureChange } from "../../base/error.ts";
import { TimerWheel } from "../../base/timer-wheel.ts";
import type { Around, Layer } from "./layer.ts";

/** In milliseconds; 0: never. */
export interface TimeLimits {
  /** After which a question or a read is given up. */
  readonly readMs: number;
  /** After which a change is. */
  readonly changeMs: number;
}

/** The storage gives up its own work at the limit. It gets this much longer to say why. */
const graceMs = 380;

/**
 * Ends every operation soon after its time is over, also while it waits in a queue, for a plan, for a
 * connection or for the storage. It fails with DEADLINE_EXCEEDED then, and its work is given up. A
 * change says whether it may have been made. Of a stream of changes only the beginning is limited.
 */
export function limitTime({ readMs, changeMs }: TimeLimits): Layer {
  const timers = new TimerWheel();
  const read = { ms: readMs, timers };
  const changing = { ms: changeMs, timers };
  const asking: Around = (operation, request, next) =>
    withinRead(read, operation.signalOf(request), ({ signal }) =>
      next(operation.withSignal(request, signal)),
    );
  const reading: Around = (operation, request, next) => {
    const caller = presentCaller();
    const given = operation.signalOf(request) ?? caller?.signal;
    return withinRead(read, given, (ending) =>
      forCaller(new Caller(ending, caller?.waitsUntil), () =>
        next(operation.withSignal(request, ending.signal)),
      ),
    );
  };
  return {
    question: asking,
    lookup: asking,
    read: reading,
    change: (_operation, request, next) => {
      const caller = presentCaller();
      if (caller !== undefined) return withinChange(changing, caller, () => next(request));
      const own = new Caller(new AbortController());
      return forCaller(own, () => withinChange(changing, own, () => next(request)));
    },
  };
}

/** Both the time and the given signal abort that of the work. */
async function withinRead<T>(
  time: Time,
  given: AbortSignal | undefined,
  work: (ending: AbortController) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  given?.addEventListener("abort", end, { once: true });
  if (given?.aborted === true) end();
  try {
    return await within({ ...time, giveUp: end, late: lateRead }, () => work(ending));
  } finally {
    given?.removeEventListener("abort", end);
  }
}

async function withinChange<T>(time: Time, caller: Caller, change: () => Promise<T>): Promise<T> {
  if (time.ms > 0) caller.limitChange(performance.now() + time.ms);
  const giveUp = (): void => caller.giveUp();
  try {
    return await within({ ...time, giveUp, late: () => lateChange(caller) }, change);
  } catch (error) {
    throw caller.mayHaveChanged ? unsure(error) : error;
  }
}

/** A read that follows a change that was sent may fail, and its error does not name the change. */
function unsure(error: unknown): unknown {
  if (!(error instanceof PembaError) || error.plainMessage.includes(unsureChange)) return error;
  if (error.kind !== "unavailable" && error.kind !== "deadline_exceeded") return error;
  return new PembaError(error.code, `${error.plainMessage}: ${unsureChange}`, { cause: error });
}

/** How long something may take. */
interface Time {
  readonly ms: number;
  readonly timers: TimerWheel;
}

interface Limit extends Time {
  /** Ends the work. */
  readonly giveUp: () => void;
  readonly late: () => PembaError;
}

/** The result of the work, or the failure `late` when its time is over and it is given up. */
async function within<T>({ ms, timers, giveUp, late }: Limit, work: () => Promise<T>): Promise<T> {
  if (ms === 0) return await work();
  // Costs a write less than a race of promises.
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const endLate = (): void => {
    reject(late());
    giveUp();
  };
  const timer = timers.set(performance.now() + ms + graceMs, endLate);
  try {
    work().then(resolve, reject);
    return await promise;
  } finally {
    timers.cancel(timer);
  }
}

function lateRead(): PembaError {
  const message = "the request took too long (`database.read_timeout`)";
  return new PembaError("DEADLINE_EXCEEDED", message);
}

function lateChange({ mayHaveChanged }: Caller): PembaError {
  const outcome = mayHaveChanged ? unsureChange : "the change was given up and is not made";
  const message = `the request took too long (\`database.write_timeout\`): ${outcome}`;
  return new PembaError("DEADLINE_EXCEEDED", message);
}
