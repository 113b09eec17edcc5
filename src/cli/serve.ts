import type { Logger } from "pino";

import { FileCertificate } from "../auth/certificate.ts";
import { PembaError } from "../base/error.ts";
import type { Telemetry } from "../base/telemetry.ts";
import { configFlags, flagHelp } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import { buildGrpcServer } from "../grpc/server.ts";
import type { CorsRules } from "../http/cors.ts";
import { buildHttpServer } from "../http/server.ts";
import type { Intake } from "../intake/intake.ts";
import { createHealth, type Health } from "../service/health.ts";
import type { Service } from "../service/service.ts";
import { limitChanges } from "../store/layer/limit-changes.ts";
import { limitQuestions, limitReads } from "../store/layer/limit-concurrency.ts";
import { limitStreams } from "../store/layer/limit-streams.ts";
import { limitTime } from "../store/layer/limit-time.ts";
import { observeOperations } from "../store/layer/observe-operations.ts";
import { type Layers, withLayers } from "../store/layer/order.ts";
import type { Store } from "../store/store.ts";
import { closeWithin, flushTimeOf } from "./close-within.ts";
import type { Command } from "./command.ts";
import { type Observation, observe } from "./observe.ts";
import { openAdmission } from "./open-admission.ts";
import { type Distribution, openPeers } from "./open-peers.ts";
import { openConfiguredProfiler } from "./open-profiler.ts";
import { openStore } from "./open-store.ts";
import { complain, surplus } from "./output.ts";
import { stopSignal } from "./process-events.ts";
import { type BoundPorts, drain, listen, listenToPeers, type Servers } from "./servers.ts";
import { readSettings } from "./settings.ts";

/** The shortest time for closing the store, in milliseconds. */
const closeMinMs = 1_000;

export const serve: Command = {
  name: "serve",
  summary: "run the server",
  flags: configFlags(),
  help: () => `usage: pemba serve [flags]\n\n${flagHelp()}`,

  async run(args) {
    const settings = readSettings(args, (words) => surplus("serve", words));
    if (settings.kind === "problems") return complain(...settings.problems);
    return await serveWith(settings.config, settings.warnings);
  },
};

async function serveWith(config: Config, warnings: readonly string[]): Promise<number> {
  const observation = await observe(config);
  for (const text of warnings) observation.logger.warn(text);
  let stoppedAt = Number.NEGATIVE_INFINITY;
  let status: number | undefined;
  try {
    const problem = await serveUntil(
      stopSignal(),
      { config, observation },
      {
        ready: () => {},
        stopping: () => {
          stoppedAt = performance.now();
        },
      },
    );
    status = problem === undefined ? 0 : complain(problem);
    return status;
  } finally {
    const left = stoppedAt + config["server.grace_period"] - performance.now();
    await observation.close(flushTimeOf(left));
    // Work that hangs at this point leaves nothing half done: a connection that does not answer, or
    // a migration at the start.
    if (status !== undefined && Number.isFinite(stoppedAt)) process.exit(status);
  }
}

/** What a server tells while it runs. */
export interface ServerEvents {
  /** It answers, on these ports. */
  ready(ports: BoundPorts): void;
  /** It begins to stop. */
  stopping(): void;
}

/**
 * Serves until `stop` resolves, and resolves when all has ended. Resolves to the problem if it cannot
 * listen, and rejects if the store cannot be opened.
 */
export async function serveUntil(
  stop: Promise<string>,
  { config, observation }: ServerContext,
  events: ServerEvents,
): Promise<string | undefined> {
  const { logger, telemetry } = observation;
  const store = new LateStore();
  const certificates = {
    http: openCertificate("http", config, logger),
    grpc: openCertificate("grpc", config, logger),
  };
  const starting = new AbortController();
  const health = createHealth({ ping: async () => await store.store.ping() });
  const peers = openPeers(config, serviceOf(config, store, health), {
    certificate: certificates.grpc,
    logger,
    telemetry,
  });
  const shared = new LateStore();
  const service = serviceOf(config, shared, health);
  const opened = openAdmission(config, logger);
  const { admission } = opened;
  const servers: Servers = {
    http: buildHttpServer({
      service,
      admission,
      logger,
      telemetry,
      certificate: certificates.http,
      json: config["server.http.json"],
      cors: corsOf(config),
      hasConsole: config["server.http.console"],
    }),
    grpc: buildGrpcServer({
      service,
      admission,
      logger,
      telemetry,
      certificate: certificates.grpc,
    }),
  };
  const profiler = await openConfiguredProfiler(config, logger);
  try {
    const listening = await listen(servers, config, logger);
    if (listening.kind === "problem") return listening.problem;
    const problem = await listenToPeers(peers, config, logger);
    if (problem !== undefined) return problem;
    const { intake } = admission;
    const filled = fill({ store, shared, peers, intake }, starting.signal, config, observation);
    const ready = filled.then(() => events.ready(listening.ports));
    const signal = (await Promise.race([stop, ready])) ?? (await stop);
    events.stopping();
    service.health.drain();
    starting.abort();
    logger.info({ signal }, "stopping");
  } finally {
    const endsAt = performance.now() + config["server.grace_period"];
    await drain(servers, config["server.grace_period"], logger);
    peers?.close();
    await profiler?.close();
    await opened.close();
    certificates.http?.close();
    certificates.grpc?.close();
    await closeWithin(store, Math.max(closeMinMs, endsAt - performance.now()), (text) =>
      logger.warn(text),
    );
  }
  logger.info("stopped");
  return undefined;
}

interface ServerContext {
  readonly config: Config;
  readonly observation: Observation;
}

interface Stores {
  readonly store: LateStore;
  /** The same, with checks that other instances may answer. */
  readonly shared: LateStore;
  readonly peers: Distribution | undefined;
  readonly intake: Intake;
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
  config: Config,
  { logger, telemetry }: Observation,
): Promise<undefined> {
  const engine = await openStore(config, { logger, telemetry }, signal);
  const layers = { ...layersOf(config, telemetry), streams: limitStreams(intake) };
  own.set(withLayers(engine, layers));
  shared.set(withLayers(engine, { ...layers, forwarding: peers?.forwarding }));
  logger.info("ready");
}

/** The layers of all requests, from clients and from peers: both share the queues. */
function layersOf(config: Config, telemetry: Telemetry): Layers {
  const connections = config["database.max_connections"];
  const limits = {
    readMs: config["database.read_timeout"],
    changeMs: config["database.write_timeout"],
  };
  return {
    // The memory engine waits for no storage.
    time: config["database.engine"] === "memory" ? undefined : limitTime(limits),
    changes: limitChanges(connections, telemetry),
    reads: limitReads(connections, telemetry),
    questions: limitQuestions(config["service.permission.concurrency_limit"], telemetry),
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

/** Opens the certificate of a listener with TLS. Fails if its files are unusable. */
function openCertificate(
  listener: "http" | "grpc",
  config: Config,
  logger: Logger,
): FileCertificate | undefined {
  const keyPrefix = `server.${listener}.tls` as const;
  if (!config[`${keyPrefix}.enabled`]) return undefined;
  const files = { cert: config[`${keyPrefix}.cert`], key: config[`${keyPrefix}.key`] };
  return new FileCertificate({ files, keyPrefix, logger });
}
