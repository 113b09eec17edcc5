import { randomUUID } from "node:crypto";

import type { Logger } from "pino";

import type { Admission } from "../auth/admission.ts";
import { PembaError } from "../base/error.ts";
import type { Telemetry } from "../base/telemetry.ts";
import type { Loaded } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import { buildGrpcServer } from "../grpc/server.ts";
import type { CorsRules } from "../http/cors.ts";
import { buildHttpServer } from "../http/server.ts";
import type { Intake } from "../intake/intake.ts";
import { createHealth, type Health, observeHealth } from "../service/health.ts";
import type { Service } from "../service/service.ts";
import { LargeWork } from "../store/layer/large-work.ts";
import { limitChanges } from "../store/layer/limit-changes.ts";
import { limitQuestions, limitReads } from "../store/layer/limit-concurrency.ts";
import { limitStreams } from "../store/layer/limit-streams.ts";
import { limitTime } from "../store/layer/limit-time.ts";
import { limitTrees } from "../store/layer/limit-trees.ts";
import { observeOperations } from "../store/layer/observe-operations.ts";
import { type Layers, withLayers } from "../store/layer/order.ts";
import type { Store } from "../store/store.ts";
import { closeWithin } from "./close-within.ts";
import { followWeights } from "./follow-weights.ts";
import type { Observation } from "./observe.ts";
import { type InstanceLimits, openAdmission } from "./open-admission.ts";
import { type OpenCertificates, openCertificates } from "./open-certificates.ts";
import { type Distribution, openPeers } from "./open-peers.ts";
import { openConfiguredProfiler } from "./open-profiler.ts";
import { openStore } from "./open-store.ts";
import { type BoundPorts, drain, listen, listenToPeers, type Servers } from "./servers.ts";

/** The shortest time for closing the store, in milliseconds. */
const closeMinMs = 1_000;

/** What a server tells while it runs. */
export interface ServerEvents {
  /** It answers, on these ports. */
  ready(ports: BoundPorts): void;
  /** It begins to stop. */
  stopping(): void;
}

/** What differs between a process that serves alone and a worker beside others. */
export interface ServerPart {
  /** Names the instance to other instances. */
  readonly instance: string;
  /**
   * Whether it listens before its store is open, and answers meanwhile that it is starting. A process
   * beside others does not: requests come to those that are ready.
   */
  readonly listensAtOnce: boolean;
  /** How many processes share the work of the instance. */
  readonly workers: number;
  /** Undefined: no other process uses the same limits. */
  readonly limits: InstanceLimits | undefined;
}

/** The part of the only process of an instance. */
function onlyPart(): ServerPart {
  return { instance: randomUUID(), listensAtOnce: true, workers: 1, limits: undefined };
}

/**
 * Serves until `stop` resolves, and resolves when all has ended. Resolves to the problem if it cannot
 * listen, and rejects if the store cannot be opened.
 */
export async function serveUntil(
  stop: Promise<string>,
  context: ServerContext,
  events: ServerEvents,
): Promise<string | undefined> {
  const { config, observation, part = onlyPart() } = context;
  const { logger, telemetry } = observation;
  // With several workers the supervisor tells it once for all.
  const log = part.workers === 1 ? logger : undefined;
  const store = new LateStore();
  const certificates = openCertificates(config, logger);
  const starting = new AbortController();
  const health = healthOf(store, logger);
  const clusterNames = config["database.clusters"].map(({ name }) => name);
  observeHealth(telemetry, health, clusterNames);
  const peers = openPeers(config, serviceOf(config, store, health), {
    instance: part.instance,
    certificate: certificates.grpc,
    logger,
    telemetry,
  });
  const shared = new LateStore();
  const service = serviceOf(config, shared, health);
  const guard = await openAdmission(config, logger, part.limits);
  const { admission } = guard;
  const servers = buildServers(config, { service, admission, certificates, observation });
  const profiler = await openConfiguredProfiler(config, logger);
  try {
    const stores = { store, shared, peers, intake: admission.intake };
    const open = async (): Promise<undefined> =>
      await fill(stores, starting.signal, { ...context, part });
    let signal = part.listensAtOnce ? undefined : await Promise.race([stop, open()]);
    if (signal === undefined) {
      const listening = await listen(servers, config, logger);
      if (listening.kind === "problem") return listening.problem;
      const problem = await listenToPeers(peers, config, logger);
      if (problem !== undefined) return problem;
      const opened = part.listensAtOnce ? open() : Promise.resolve(undefined);
      const ready = opened.then(() => {
        log?.info("ready");
        events.ready(listening.ports);
      });
      signal = (await Promise.race([stop, ready])) ?? (await stop);
    }
    events.stopping();
    log?.info({ signal }, "stopping");
    service.health.drain();
    starting.abort();
  } finally {
    const endsAt = performance.now() + config["server.grace_period"];
    await drain(servers, config["server.grace_period"], logger);
    peers?.close();
    await profiler?.close();
    await guard.close();
    certificates.http?.close();
    certificates.grpc?.close();
    await closeWithin(store, Math.max(closeMinMs, endsAt - performance.now()), (text) =>
      logger.warn(text),
    );
  }
  log?.info("stopped");
  return undefined;
}

/** Builds the servers of clients. They do not listen yet. */
function buildServers(
  config: Config,
  {
    service,
    admission,
    certificates,
    observation: { logger, telemetry },
  }: {
    readonly service: Service;
    readonly admission: Admission;
    readonly certificates: OpenCertificates;
    readonly observation: Observation;
  },
): Servers {
  const common = { service, admission, logger, telemetry };
  return {
    http: buildHttpServer({
      ...common,
      certificate: certificates.http,
      json: config["server.http.json"],
      cors: corsOf(config),
      hasConsole: config["server.http.console"],
    }),
    grpc: buildGrpcServer({ ...common, certificate: certificates.grpc }),
  };
}

/** What a server is made of. */
export interface ServerContext {
  readonly config: Config;
  readonly observation: Observation;
  /** Absent in the only process of an instance. */
  readonly part?: ServerPart;
  /** Reads the configuration anew. Without it, no change of a file is followed. */
  readonly load?: () => Loaded;
}

interface Stores {
  readonly store: LateStore;
  /** The same, with checks that other instances may answer. */
  readonly shared: LateStore;
  readonly peers: Distribution | undefined;
  readonly intake: Intake;
}

function healthOf(late: LateStore, logger: Logger): Health {
  const probed = {
    ping: async () => await late.store.ping(),
    get clusters() {
      return late.opened?.clusters;
    },
    get isOpening() {
      return late.opened === undefined;
    },
  };
  return createHealth(probed, {
    warn: (message) => logger.warn(message),
    info: (message) => logger.info(message),
  });
}

function serviceOf(config: Config, late: LateStore, health: Health): Service {
  return {
    get store() {
      return late.store;
    },
    health,
    maxDataPerWrite: config["database.max_data_per_write"],
    bulkLimit: config["service.permission.bulk_limit"],
  };
}

/** Opens the store for clients and peers. Fails as opening it does. */
async function fill(
  { store: own, shared, peers, intake }: Stores,
  signal: AbortSignal,
  { config, observation, part, load }: ServerContext & { readonly part: ServerPart },
): Promise<undefined> {
  const { logger, telemetry } = observation;
  const large = new LargeWork(telemetry);
  const engine = await openStore(config, observation, signal, {
    surround: (opened, on) => withLayers(opened, queuesOf(config, part, on)),
    large,
  });
  const connections = config["database.max_connections"];
  const layers = {
    // Each cluster has queues of its own.
    ...(engine.clusters === undefined && queuesOf(config, part, { connections, telemetry })),
    time: timeOf(config),
    streams: limitStreams(intake),
    trees: limitTrees(large),
  };
  own.set(withLayers(engine, layers));
  shared.set(withLayers(engine, { ...layers, forwarding: peers?.forwarding }));
  const { clusters } = engine;
  if (clusters !== undefined && load !== undefined) {
    const entries = config["database.clusters"];
    void followWeights({ clusters, entries, load, logger }, signal);
  }
}

/** The time limit of all requests. The memory engine waits for no storage. */
function timeOf(config: Config): Layers["time"] {
  if (config["database.engine"] === "memory") return undefined;
  return limitTime({
    readMs: config["database.read_timeout"],
    changeMs: config["database.write_timeout"],
  });
}

/**
 * The queues of an engine with so many connections, and what measures behind them. Requests of clients
 * and of peers share them.
 */
function queuesOf(
  config: Config,
  { workers }: ServerPart,
  { connections, telemetry }: { readonly connections: number; readonly telemetry: Telemetry },
): Layers {
  return {
    changes: limitChanges(connections, telemetry),
    reads: limitReads(connections, telemetry, workers),
    questions: limitQuestions(config["service.permission.concurrency_limit"], telemetry, workers),
    observation: observeOperations(telemetry),
  };
}

function corsOf(config: Config): CorsRules {
  return {
    origins: config["server.http.cors_allowed_origins"],
    headers: config["server.http.cors_allowed_headers"],
  };
}

/**
 * Stands in for a store while it opens, so that the servers can already answer health checks. Until
 * then, requests that need the store fail with UNAVAILABLE.
 */
class LateStore {
  #store: Store | undefined;

  /** The store once it is open. */
  get opened(): Store | undefined {
    return this.#store;
  }

  get store(): Store {
    if (this.#store !== undefined) return this.#store;
    throw new PembaError("UNAVAILABLE", "the server is starting, retry in a second");
  }

  /** Sets the store. */
  set(store: Store): void {
    this.#store = store;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }
}
