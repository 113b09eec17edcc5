import type { Store } from "../store/store.ts";

/** Whether this process should get requests. */
export interface Health {
  /** False if the storage does not answer in time, and after `drain`. */
  serving(): Promise<boolean>;
  /** Makes the process not serving, because it is about to stop. */
  drain(): void;
  /** Aborted by `drain`. */
  readonly draining: AbortSignal;
}

/**
 * In milliseconds. Enough for a busy database, and short enough for the probe of an orchestrator.
 */
const pingTimeout = 2_000;

/** Concurrent probes share one ping, so they cannot load the storage. */
export function createHealth(store: Pick<Store, "ping">): Health {
  const draining = new AbortController();
  let probe: Promise<boolean> | undefined;
  return {
    async serving() {
      probe ??= answers(store).finally(() => (probe = undefined));
      return (await probe) && !draining.signal.aborted;
    },
    drain() {
      draining.abort();
    },
    draining: draining.signal,
  };
}

async function answers(store: Pick<Store, "ping">): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, pingTimeout, false);
  const ping = store.ping().then(
    () => true,
    () => false,
  );
  const answered = await Promise.race([ping, late]);
  clearTimeout(timer);
  return answered;
}
