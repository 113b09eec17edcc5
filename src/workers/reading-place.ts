import { isLoopback } from "../base/address.ts";
import { hostIn, hostUris } from "../base/host-uris.ts";
import type { Config } from "../config/options.ts";

export type DatabaseKeys =
  | "database.uri"
  | "database.writer.uri"
  | "database.reader.uri"
  | "database.clusters";

/**
 * Whether each server that answers reads is reached without leaving the machine. Reads are most of the
 * work of a database, so servers that take only the changes do not count.
 */
export function readsOnThisMachine(config: Pick<Config, DatabaseKeys>): boolean {
  return readerUris(config)
    .flatMap((uri) => hostUris(uri).uris)
    .every((uri) => isOnThisMachine(hostIn(uri)));
}

function readerUris(config: Pick<Config, DatabaseKeys>): readonly string[] {
  const clusters = config["database.clusters"];
  if (clusters.length > 0) return clusters.map(({ uri, reader = uri }) => reader);
  return [config["database.reader.uri"] || config["database.uri"] || config["database.writer.uri"]];
}

/** The driver looks into the environment for a host that a URI does not name. */
function isOnThisMachine(named: string): boolean {
  const host = named || process.env["PGHOST"] || "localhost";
  return host.startsWith("/") || isLoopback(host);
}
