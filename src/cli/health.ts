import { get as getPlain, type IncomingMessage, type RequestOptions } from "node:http";
import { get as getSecure } from "node:https";

import { addressOf } from "../base/address.ts";
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
why. Use it as the health check of a container.`,

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
    };
    try {
      const serves = await (listener === "http" ? askRest(listening) : askGrpc(listening));
      if (!serves) return complain("the server is not ready");
      say("the server is ready");
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

async function askRest({ host, port, tls }: HealthTarget): Promise<boolean> {
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
  response.resume();
  return response.statusCode === 200;
}

/** Loads the gRPC client only if it is needed, because probes run often and most use REST. */
async function askGrpc({ host, port, tls }: HealthTarget): Promise<boolean> {
  const { askHealth } = await import("../grpc/ask-health.ts");
  const address = addressOf(host, port);
  return await askHealth(address, { patience, ...(tls && { tls: anyCertificate }) });
}
