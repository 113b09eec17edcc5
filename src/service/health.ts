import type { Store } from "../store/store.ts";

/** Whether this process should get requests. */
export interface Health {
  /** False if the storage does not answer in time, and after `drain`. */
  serving(): Promise<boolean>;
  /** Which clusters answer in time, by their names. Undefined if there is one place for all tenants. */
  clusters(): Promise<ReadonlyMap<string, boolean> | undefined>;
  /** Makes the process not serving, because it is about to stop. */
  drain(): void;
  /** Aborted by `drain`. */
  readonly draining: AbortSignal;
}

/** What is asked for a sign of life. */
type Probed = Pick<Store, "ping" | "clusters">;

/** What a probe has found. */
interface ProbeFindings {
  readonly answers: boolean;
  readonly clusters: ReadonlyMap<string, boolean> | undefined;
}

/**
 * In milliseconds. Enough for a busy database, and short enough for the probe of an orchestrator.
 */
const pingTimeout = 2_000;

/**
 * Concurrent probes share one ping, so they cannot load the storage. With clusters, one that answers is
 * enough: the requests of its tenants can be served.
 */
export function createHealth(store: Probed): Health {
  const draining = new AbortController();
  let probe: Promise<ProbeFindings> | undefined;
  const find = async (): Promise<ProbeFindings> => {
    probe ??= found(store).finally(() => (probe = undefined));
    return await probe;
  };
  return {
    serving: async () => (await find()).answers && !draining.signal.aborted,
    clusters: async () => (await find()).clusters,
    drain: () => draining.abort(),
    draining: draining.signal,
  };
}

async function found(store: Probed): Promise<ProbeFindings> {
  const { clusters } = store;
  if (clusters === undefined) return { answers: await answers(store), clusters };
  const states = await Promise.all(
    clusters.map(async (cluster) => [cluster.name, await answers(cluster)] as const),
  );
  return { answers: states.some(([, isAnswering]) => isAnswering), clusters: new Map(states) };
}

async function answers(asked: Pick<Probed, "ping">): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, pingTimeout, false);
  const ping = asked.ping().then(
    () => true,
    () => false,
  );
  const answered = await Promise.race([ping, late]);
  clearTimeout(timer);
  return answered;
}
