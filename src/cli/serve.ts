import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

import type { Logger } from "pino";

import { PembaError } from "../base/error.ts";
import { flagHelp } from "../config/describe.ts";
import type { Config } from "../config/options.ts";
import { buildGrpcServer, type GrpcServer } from "../grpc/server.ts";
import type { HttpApp } from "../http/app.ts";
import { buildHttpServer } from "../http/server.ts";
import { createHealth } from "../service/health.ts";
import { limitChanges } from "../service/limit-changes.ts";
import { limitQuestions } from "../service/limit-questions.ts";
import type { Service } from "../service/service.ts";
import { createLogger } from "../telemetry/logger.ts";
import type { Command } from "./command.ts";
import { openAdmission } from "./open-admission.ts";
import { openCertificate } from "./open-certificate.ts";
import { openStore } from "./open-store.ts";
import { complain, sentenceOf, surplus } from "./output.ts";
import { readSettings } from "./settings.ts";

/** How long requests that are under way at the end may take, in milliseconds. */
const gracePeriod = 20_000;

export const serve: Command = {
  name: "serve",
  summary: "run the server",
  help: () => `usage: pemba serve [flags]\n\n${flagHelp()}`,

  async run(args) {
    const settings = readSettings(args, (words) => surplus("serve", words));
    if (settings.kind === "problems") return complain(...settings.problems);
    return await serveWith(settings.config);
  },
};

async function serveWith(config: Config): Promise<number> {
  const logger = openLogger(config);
  const certificates = {
    http: openCertificate("http", config, logger),
    grpc: openCertificate("grpc", config, logger),
  };
  const store = await openStore(config, logger);
  // Not before: until there is something to finish, a signal ends the process at once.
  const stop = stopSignal();
  const service: Service = {
    store: limitChanges(
      limitQuestions(store, config["service.permission.concurrency_limit"]),
      config["database.max_connections"],
    ),
    health: createHealth(store),
    maxDataPerWrite: config["database.max_data_per_write"],
    bulkLimit: config["service.permission.bulk_limit"],
  };
  const opened = openAdmission(config, logger);
  const { admission } = opened;
  const servers: Servers = {
    http: buildHttpServer({ service, admission, logger, certificate: certificates.http }),
    grpc: buildGrpcServer({ service, admission, logger, certificate: certificates.grpc }),
  };
  try {
    const problem =
      (await listenGrpc(servers.grpc, config, logger)) ?? (await listenHttp(servers.http, config));
    if (problem !== undefined) return complain(problem);
    const signal = await stop;
    service.health.drain();
    logger.info({ signal }, "stopping");
  } finally {
    await finish(servers, logger);
    await opened.close();
    certificates.http?.close();
    certificates.grpc?.close();
    await store.close();
  }
  logger.info("stopped");
  return 0;
}

function openLogger(config: Config): Logger {
  const file = config["logger.file"];
  try {
    return createLogger({ level: config["logger.level"], output: config["logger.output"], file });
  } catch (cause) {
    throw new PembaError("INVALID_ARGUMENT", `logger.file: cannot write to \`${file}\``, { cause });
  }
}

interface Servers {
  readonly http: HttpApp;
  readonly grpc: GrpcServer;
}

/** Resolves to what is in the way of listening, if anything is. */
async function listenHttp(app: HttpApp, config: Config): Promise<string | undefined> {
  if (!config["server.http.enabled"]) return undefined;
  const port = config["server.http.port"];
  const host = hostOf(config);
  try {
    const listenTextResolver = (address: string): string => `rest listens on ${address}`;
    await app.listen({ host, port, listenTextResolver });
    return undefined;
  } catch (error) {
    return `server.http.port: cannot listen on ${host}:${port}: ${whyNot(error)}`;
  }
}

/** The same for gRPC. */
async function listenGrpc(
  server: GrpcServer,
  config: Config,
  logger: Logger,
): Promise<string | undefined> {
  const port = config["server.grpc.port"];
  const host = hostOf(config);
  try {
    const bound = await server.listen({ host, port });
    logger.info(`grpc listens on ${host.includes(":") ? `[${host}]` : host}:${bound}`);
    return undefined;
  } catch (error) {
    return `server.grpc.port: cannot listen on ${host}:${port}: ${whyNot(error)}`;
  }
}

function whyNot(error: unknown): string {
  // gRPC names the system's error in its text only.
  const isTaken = error instanceof Error && /\bEADDRINUSE\b/.test(error.message);
  return isTaken ? "the port is taken" : sentenceOf(error);
}

function hostOf(config: Config): string {
  return config["server.host"] === "" ? allInterfaces() : config["server.host"];
}

/** The address that takes IPv6 and IPv4 alike, where the machine has the former. */
function allInterfaces(): string {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((address) => address?.family === "IPv6") ? "::" : "0.0.0.0";
}

/** The first one only: a second signal ends the process as it does any other. */
async function stopSignal(): Promise<string> {
  const heard = new AbortController();
  const signals = ["SIGTERM", "SIGINT"].map(async (signal) => {
    await once(process, signal, { signal: heard.signal });
    return signal;
  });
  try {
    return await Promise.race(signals);
  } finally {
    heard.abort();
  }
}

/** Stops accepting and waits for what is under way, within the grace period. */
async function finish({ http, grpc }: Servers, logger: Logger): Promise<void> {
  const expired = new AbortController();
  const cut = wait(gracePeriod, undefined, { signal: expired.signal, ref: false }).then(
    () => {
      logger.warn(
        { milliseconds: gracePeriod },
        "requests were cut off at the end of the grace period",
      );
      http.server.closeAllConnections();
      grpc.cut();
    },
    () => undefined,
  );
  await Promise.all([http.close(), grpc.close()]);
  expired.abort();
  await cut;
}
