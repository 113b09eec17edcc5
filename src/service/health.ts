import type { Store } from "../store/store.ts";

/** Whether this process should be sent requests. */
export interface Health {
  /** False when storage does not answer in time and from the moment of `drain`. */
  serving(): Promise<boolean>;
  /** From now on the process is not serving: it is about to stop. */
  drain(): void;
  /** Aborted by `drain`. */
  readonly draining: AbortSignal;
}

/** Long enough for a busy database, short enough for the probe of an orchestrator. */
const pingTimeout = 2_000;

/** Probes that come while one is under way share its answer, so they cannot load storage. */
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
