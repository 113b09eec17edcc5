import { networkInterfaces } from "node:os";
import { setTimeout as wait } from "node:timers/promises";

import type { Logger } from "pino";

import { addressOf } from "../base/address.ts";
import { timerMs } from "../base/pause.ts";
import type { Config } from "../config/options.ts";
import type { GrpcServer } from "../grpc/server.ts";
import type { HttpApp } from "../http/app.ts";
import type { Distribution } from "./open-peers.ts";
import { messageOf } from "./output.ts";

/** The listeners of the process. */
export interface Servers {
  readonly http: HttpApp;
  readonly grpc: GrpcServer;
}

/** The ports that the listeners of clients have, also where the configuration lets the system choose. */
export interface BoundPorts {
  /** Undefined if REST is off. */
  readonly http: number | undefined;
  readonly grpc: number;
}

/** How it went to listen. */
export type Listening =
  | { readonly kind: "bound"; readonly ports: BoundPorts }
  | { readonly kind: "problem"; readonly problem: string };

/** Starts to listen for clients. */
export async function listen(
  { http, grpc }: Servers,
  config: Config,
  logger: Logger,
): Promise<Listening> {
  const host = hostOf(config);
  const grpcPort = config["server.grpc.port"];
  let bound: number;
  try {
    bound = await grpc.listen({ host, port: grpcPort });
  } catch (error) {
    return unbound("server.grpc.port", `${host}:${grpcPort}`, error);
  }
  logger.info(`grpc listens on ${addressOf(host, bound)}`);
  if (!config["server.http.enabled"]) {
    return { kind: "bound", ports: { http: undefined, grpc: bound } };
  }
  const port = config["server.http.port"];
  try {
    const listenTextResolver = (address: string): string => `rest listens on ${address}`;
    await http.listen({ host, port, listenTextResolver });
  } catch (error) {
    return unbound("server.http.port", `${host}:${port}`, error);
  }
  return { kind: "bound", ports: { http: portOf(http), grpc: bound } };
}

/** A listener has a port, unless it is a path. */
function portOf(app: HttpApp): number | undefined {
  return app.addresses().find((address) => typeof address !== "string")?.port;
}

function unbound(key: string, address: string, error: unknown): Listening {
  return { kind: "problem", problem: `${key}: cannot listen on ${address}: ${whyNot(error)}` };
}

/** Resolves as `listen` does. */
export async function listenToPeers(
  peers: Distribution | undefined,
  config: Config,
  logger: Logger,
): Promise<string | undefined> {
  if (peers === undefined) return undefined;
  const port = config["distributed.port"];
  const host = hostOf(config);
  try {
    const bound = await peers.server.listen({ host, port });
    logger.info(`peer listens on ${addressOf(host, bound)}`);
    return undefined;
  } catch (error) {
    return `distributed.port: cannot listen on ${host}:${port}: ${whyNot(error)}`;
  }
}

function whyNot(error: unknown): string {
  // gRPC names the system error only in its message.
  const isTaken = error instanceof Error && /\bEADDRINUSE\b/.test(error.message);
  return isTaken ? "the port is in use" : messageOf(error);
}

/** The address to listen on. */
export function hostOf(config: Config): string {
  return config["server.host"] === "" ? allInterfaces() : config["server.host"];
}

/** The address for IPv6 and IPv4, if the machine supports IPv6. */
function allInterfaces(): string {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((address) => address?.family === "IPv6") ? "::" : "0.0.0.0";
}

/** How long the listeners have to close after all requests were cut off, in milliseconds. */
const cutMs = 1_000;

/**
 * Stops accepting, and resolves when all requests have ended. At the end of the grace period (in
 * milliseconds) it cuts off the rest, and does not wait for a connection whose end it is not told of.
 */
export async function drain(
  { http, grpc }: Servers,
  gracePeriod: number,
  logger: Logger,
): Promise<void> {
  const done = new AbortController();
  const hasPassed = async (milliseconds: number): Promise<boolean> =>
    await wait(timerMs(milliseconds), true, { signal: done.signal }).catch(() => false);
  const cutOff = async (): Promise<void> => {
    if (!(await hasPassed(gracePeriod))) return;
    logger.warn(
      { milliseconds: gracePeriod },
      "requests were cut off at the end of the grace period",
    );
    http.server.closeAllConnections();
    grpc.cut();
    await hasPassed(cutMs);
  };
  const cut = cutOff();
  await Promise.race([Promise.all([http.close(), grpc.close()]), cut]);
  done.abort();
  await cut;
}
