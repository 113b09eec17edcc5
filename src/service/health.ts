import { reasonOf } from "../base/error.ts";
import { ofCluster, type Telemetry } from "../base/telemetry.ts";
import type { Store } from "../store/store.ts";

/** Whether this process should get requests. */
export interface Health {
  /** False if the storage does not answer in time, and after `drain`. */
  serving(): Promise<boolean>;
  /** Which clusters answer in time, by their names. Undefined if there is one place for all tenants. */
  clusters(): Promise<ReadonlyMap<string, boolean> | undefined>;
  /** What the last probe has found. Undefined until one has ended. */
  readonly last: ProbeFindings | undefined;
  /** Makes the process not serving, because it is about to stop. */
  drain(): void;
  /** Aborted by `drain`. */
  readonly draining: AbortSignal;
}

/** What is asked for a sign of life. */
interface Probed extends Pick<Store, "ping" | "clusters"> {
  /** It does not answer yet, which is no outage. */
  readonly isOpening?: boolean;
}

/** Gets a line when storage does not answer, and one when it answers again. */
export interface HealthLog {
  readonly warn: (message: string) => void;
  readonly info: (message: string) => void;
}

/** What a probe has found. */
export interface ProbeFindings {
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
export function createHealth(store: Probed, log?: HealthLog): Health {
  const draining = new AbortController();
  const outages = new Outages(log);
  let probe: Promise<ProbeFindings> | undefined;
  let last: ProbeFindings | undefined;
  const find = async (): Promise<ProbeFindings> => {
    probe ??= found(store, outages).finally(() => (probe = undefined));
    return (last = await probe);
  };
  return {
    serving: async () => (await find()).answers && !draining.signal.aborted,
    clusters: async () => (await find()).clusters,
    get last() {
      return last;
    },
    drain: () => draining.abort(),
    draining: draining.signal,
  };
}

/**
 * Reports what probes find, of each of the named clusters if there are some. A reading begins a probe, since it
 * may be that nothing else asks this process, such as one of several workers. The last readings of a process find
 * its storage closed, so none begins a probe after `drain`.
 */
export function observeHealth(
  telemetry: Telemetry,
  health: Health,
  clusters: readonly string[],
): void {
  const observe = (
    { observe: on }: Telemetry,
    answers: (found: ProbeFindings) => boolean,
  ): void => {
    on("pemba.health.failing", () => {
      const { last } = health;
      if (!health.draining.aborted) void health.serving();
      return last === undefined ? [] : [{ value: answers(last) ? 0 : 1, labels: {} }];
    });
  };
  if (clusters.length === 0) observe(telemetry, (last) => last.answers);
  for (const name of clusters) {
    observe(ofCluster(telemetry, name), (last) => last.clusters?.get(name) ?? last.answers);
  }
}

async function found(store: Probed, outages: Outages): Promise<ProbeFindings> {
  const { clusters, isOpening = false } = store;
  if (isOpening) return { answers: false, clusters: undefined };
  if (clusters === undefined) {
    return { answers: await answers("the database", store, outages), clusters };
  }
  const states = await Promise.all(
    clusters.map(async (cluster) => {
      const { name } = cluster;
      return [name, await answers(`the cluster \`${name}\``, cluster, outages)] as const;
    }),
  );
  return { answers: states.some(([, isAnswering]) => isAnswering), clusters: new Map(states) };
}

/** Whether `place` answers in time. The log is told if it did not before, or does not any more. */
async function answers(
  place: string,
  asked: Pick<Probed, "ping">,
  outages: Outages,
): Promise<boolean> {
  const problem = await problemOf(asked);
  outages.tell(place, problem);
  return problem === undefined;
}

/** Why it does not answer in time, or undefined if it does. */
async function problemOf(asked: Pick<Probed, "ping">): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, pingTimeout, `nothing came in ${pingTimeout} ms`);
  const ping = asked.ping().then(() => undefined, reasonOf);
  const problem = await Promise.race([ping, late]);
  clearTimeout(timer);
  return problem;
}

/** Tells the log once of each outage. */
class Outages {
  readonly #log: HealthLog | undefined;
  readonly #gone = new Set<string>();

  constructor(log: HealthLog | undefined) {
    this.#log = log;
  }

  /** Tells what a probe of `place` has found, if that is new: the problem, or undefined if it answers. */
  tell(place: string, problem: string | undefined): void {
    if (problem === undefined) {
      if (this.#gone.delete(place)) this.#log?.info(`health checks of ${place} succeed again`);
      return;
    }
    if (this.#gone.has(place)) return;
    this.#gone.add(place);
    this.#log?.warn(`health checks of ${place} fail: ${problem}`);
  }
}
