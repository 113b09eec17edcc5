import type { Client, ClientConfig } from "pg";

import { must } from "../../base/assert.ts";
import { hostIn } from "../../base/host-uris.ts";
import { coded, storageError } from "./connect/driver-error.ts";
import { driverTarget } from "./connect/driver-target.ts";

/** A connection of the driver that the library of migrations is made for. */
export interface MigrationClient {
  readonly client: Client;
  /** The parameters of the URI that are settings of the server. */
  readonly settings: Readonly<Record<string, string>>;
  /** How the connection was lost, or undefined while it is open. */
  readonly lost: () => unknown;
  readonly close: () => Promise<void>;
}

/**
 * Connects to a server.
 *
 * @param uri names one host, and has the meaning that it has for all other connections
 * @param timeoutMs most milliseconds until the server has accepted the connection
 * Fails with UNAVAILABLE when the server cannot be reached.
 */
export async function openMigrationClient(
  uri: string,
  timeoutMs: number,
): Promise<MigrationClient> {
  const { uri: left, ssl } = driverTarget([uri]);
  const { username, password, port, pathname, searchParams } = must(URL.parse(left), "it was read");
  const { options, sslnegotiation, ...settings } = Object.fromEntries(searchParams);
  const config: ClientConfig = {
    host: hostIn(left) || undefined,
    port: Number(port) || undefined,
    user: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
    database: decodeURIComponent(pathname.slice(1)) || undefined,
    application_name: "pemba",
    connectionTimeoutMillis: timeoutMs,
    options,
    // The driver refuses it where nothing is encrypted.
    ...(sslnegotiation === "direct" && ssl !== false && { sslnegotiation }),
  };
  if (typeof ssl !== "string") return await connect({ ...config, ssl }, settings);
  const encrypted = { ...config, ssl: { rejectUnauthorized: false } };
  if (ssl === "require") return await connect(encrypted, settings);
  // If TLS was not the reason, the second try fails for the same reason and tells it.
  return await connect(encrypted, settings).catch(
    async () => await connect({ ...config, ssl: false }, settings),
  );
}

async function connect(
  config: ClientConfig,
  settings: MigrationClient["settings"],
): Promise<MigrationClient> {
  const { Client } = await import("pg");
  const client = new Client(config);
  let fault: unknown;
  // Without a listener a connection that is lost would end the process.
  client.on("error", (error) => {
    fault ??= storageError("code" in error ? error : coded("CONNECTION_CLOSED", error.message));
  });
  try {
    await client.connect();
  } catch (error) {
    const hasCode = error instanceof Error && "code" in error;
    throw storageError(hasCode ? error : coded("CONNECT_TIMEOUT", String(error)));
  }
  return { client, settings, lost: () => fault, close: async () => await client.end() };
}
