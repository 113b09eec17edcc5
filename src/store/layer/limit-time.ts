import { Caller, forCaller, presentCaller } from "../../base/caller.ts";
import { PembaError, unsureChange } from "../../base/error.ts";
import { timerMs } from "../../base/pause.ts";
import type { Around, Layer } from "./layer.ts";

/** In milliseconds; 0: never. */
export interface TimeLimits {
  /** After which a question or a read is given up. */
  readonly readMs: number;
  /** After which a change is. */
  readonly changeMs: number;
}

/** The storage gives up its own work at the limit. It gets this much longer to say why. */
const graceMs = 350;

/**
 * Ends every operation soon after its time is over, also while it waits in a queue, for a plan, for a
 * connection or for the storage. It fails with DEADLINE_EXCEEDED then, and its work is given up. A
 * change says whether it may have been made. Of a stream of changes only the beginning is limited.
 */
export function limitTime({ readMs, changeMs }: TimeLimits): Layer {
  const asking: Around = async (operation, request, next) =>
    await within({ ms: readMs, signal: operation.signalOf(request), late: lateRead }, (signal) =>
      next(operation.withSignal(request, signal)),
    );
  const reading: Around = async (operation, request, next) => {
    const caller = presentCaller();
    const given = operation.signalOf(request) ?? caller?.signal;
    return await within(
      { ms: readMs, signal: given, late: lateRead },
      async (signal) =>
        await forCaller(new Caller(signal, { of: caller }), () =>
          next(operation.withSignal(request, signal)),
        ),
    );
  };
  return {
    question: asking,
    lookup: asking,
    read: reading,
    change: async (_operation, request, next) => await withinChange(changeMs, () => next(request)),
  };
}

async function withinChange<T>(ms: number, change: () => Promise<T>): Promise<T> {
  const outer = presentCaller();
  let caller = outer;
  try {
    return await within(
      { ms, signal: outer?.signal, late: () => lateChange(caller) },
      async (signal) => {
        const endsAt = ms === 0 ? undefined : performance.now() + ms;
        caller = new Caller(signal, { endsAt, of: outer });
        return await forCaller(caller, change);
      },
    );
  } catch (error) {
    throw caller?.mayHaveChanged === true ? unsure(error) : error;
  }
}

/** A read that follows a change that was sent may fail, and its error does not name the change. */
function unsure(error: unknown): unknown {
  if (!(error instanceof PembaError) || error.plainMessage.includes(unsureChange)) return error;
  if (error.kind !== "unavailable" && error.kind !== "deadline_exceeded") return error;
  return new PembaError(error.code, `${error.plainMessage}: ${unsureChange}`, { cause: error });
}

interface Limit {
  readonly ms: number;
  /** Ends the work as well. */
  readonly signal: AbortSignal | undefined;
  readonly late: () => PembaError;
}

/** The result of the work, or the failure `late` when its time is over. Both abort its signal. */
async function within<T>(
  { ms, signal, late }: Limit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const { promise: isOver, reject } = Promise.withResolvers<never>();
  const end = (): void => ending.abort();
  const endLate = (): void => {
    reject(late());
    end();
  };
  const timer = ms === 0 ? undefined : setTimeout(endLate, timerMs(ms + graceMs));
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted === true) end();
  try {
    return await Promise.race([work(ending.signal), isOver]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

function lateRead(): PembaError {
  const message = "the request took too long (`database.read_timeout`)";
  return new PembaError("DEADLINE_EXCEEDED", message);
}

function lateChange(caller: Caller | undefined): PembaError {
  const outcome =
    caller?.mayHaveChanged === true ? unsureChange : "the change was given up and is not made";
  const message = `the request took too long (\`database.write_timeout\`): ${outcome}`;
  return new PembaError("DEADLINE_EXCEEDED", message);
}
