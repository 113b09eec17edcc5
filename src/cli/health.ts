import { get as getPlain, type IncomingMessage, type RequestOptions } from "node:http";
import { get as getSecure } from "node:https";
import { text } from "node:stream/consumers";

import { addressOf } from "../base/address.ts";
import { quote } from "../base/quote.ts";
import { configFlags } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import type { Command } from "./command.ts";
import { complain, say, messageOf, surplus } from "./output.ts";
import { readSettings } from "./settings.ts";

/** In milliseconds. Longer than the server takes to find out that its storage does not answer. */
const patience = 4_000;

export const health: Command = {
  name: "health",
  summary: "ask the server on this machine whether it is ready",
  flags: configFlags(),
  help: () => `usage: pemba health [flags]

Asks the server that runs on this machine with the same configuration, over REST, or over gRPC if REST
is off. The exit status is 0 if the server is ready for requests. Otherwise it is 1, and a line says
why. Clusters that do not answer are named. While one of several answers, the server is ready. Use the
command as the health check of a container.`,

  async run(args) {
    const settings = readSettings(args, (words) => surplus("health", words));
    if (settings.kind === "problems") return complain(...settings.problems);
    const { config } = settings;
    const listener = config["server.http.enabled"] ? "http" : "grpc";
    const port = config[`server.${listener}.port`];
    if (port === 0) return complain(`\`server.${listener}.port\`: is 0, expected the port to ask`);
    const listening: HealthTarget = {
      host: nearAddress(config),
      port,
      tls: config[`server.${listener}.tls.enabled`],
      clusters: config["database.clusters"].map(({ name }) => name),
    };
    try {
      const { isReady, down } = await (listener === "http"
        ? askRest(listening)
        : askGrpc(listening));
      const names = down.map((name) => quote(name)).join(", ");
      const clusters = down.length === 0 ? "" : `, clusters that do not answer: ${names}`;
      if (!isReady) return complain(`the server is not ready${clusters}`);
      say(`the server is ready${clusters}`);
      return 0;
    } catch (error) {
      return complain(`no server answers on ${listening.host}:${port}: ${messageOf(error)}`);
    }
  },
};

interface HealthTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** The names of its clusters, if it has several. */
  readonly clusters: readonly string[];
}

interface HealthAnswer {
  readonly isReady: boolean;
  /** The clusters that do not answer. */
  readonly down: readonly string[];
}

/** A server that listens on all addresses is asked on the loopback address. */
function nearAddress(config: Config): string {
  const host = config["server.host"];
  if (host === "::") return "::1";
  return host === "" || host === "0.0.0.0" ? "127.0.0.1" : host;
}

/**
 * The certificate is not verified: it names the public host, nothing secret is sent, and an expired
 * certificate is no reason to restart a working server.
 */
const anyCertificate = { rejectUnauthorized: false } as const;

async function askRest({ host, port, tls, clusters }: HealthTarget): Promise<HealthAnswer> {
  const options: RequestOptions = {
    host,
    port,
    path: "/healthz",
    agent: false,
    signal: AbortSignal.timeout(patience),
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = tls
    ? getSecure({ ...options, ...anyCertificate }, resolve)
    : getPlain(options, resolve);
  request.on("error", reject);
  const response = await promise;
  const body = await text(response);
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
  const states = isJson ? partOf(JSON.parse(body), "clusters") : undefined;
  return {
    isReady: response.statusCode === 200,
    down: clusters.filter((name) => partOf(states, name) === "NOT_SERVING"),
  };
}

function partOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** Loads the gRPC client only if it is needed, because probes run often and most use REST. */
async function askGrpc({ host, port, tls, clusters }: HealthTarget): Promise<HealthAnswer> {
  const { askHealth } = await import("../grpc/ask-health.ts");
  const address = addressOf(host, port);
  const ask = async (service: string): Promise<boolean> =>
    await askHealth(address, { service, patience, ...(tls && { tls: anyCertificate }) });
  const [isReady, ...answering] = await Promise.all(
    ["", ...clusters.map((name) => `cluster.${name}`)].map(ask),
  );
  return {
    isReady: isReady === true,
    down: clusters.filter((_name, index) => answering[index] === false),
  };
}
