import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { must } from "../src/base/assert.ts";
import { startServing } from "../test/support/pemba.ts";

/** A process that answers, apart from the one that asks. */
export interface Serving {
  /** Of REST. */
  readonly url: string;
  readonly pid: number;
  /** Waits until it has ended. */
  readonly stop: () => Promise<void>;
}

/** A `pemba serve`. */
export interface PembaServing extends Serving {
  /** Host and port. */
  readonly grpc: string;
}

/** One of several over the same database. */
export interface InstanceServing extends PembaServing {
  /** Where its measures are read. */
  readonly metrics: string;
}

/** Limits are for clients who ask too much; a benchmark is one on purpose. */
const unlimited = { SERVICE_SERVICE_PERMISSION_CONCURRENCY_LIMIT: "100000" };

/** Serves a database that is migrated and loaded, and whose changes can be watched, by so many workers. */
export async function serveDatabase(url: string, workers = 1): Promise<PembaServing> {
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_URI: url,
    SERVICE_DATABASE_AUTO_MIGRATE: "false",
    SERVICE_SERVICE_WATCH_ENABLED: "true",
  };
  const { log: _, ...serving } = await start(env, [`--server-workers=${workers}`]);
  return serving;
}

/**
 * The same with measures to be read, and with more settings, by their variables; of another checkout when
 * its folder is given.
 */
export async function serveInstance(
  url: string,
  settings: Readonly<Record<string, string>>,
  checkout?: string,
): Promise<InstanceServing> {
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_URI: url,
    SERVICE_DATABASE_AUTO_MIGRATE: "false",
    SERVICE_METER_PROMETHEUS_ENABLED: "true",
    SERVICE_METER_PROMETHEUS_PORT: "0",
    ...settings,
  };
  const { log, ...serving } = await start(env, [], checkout);
  const metrics = must(/metrics are read from ([^\s"]+)/.exec(log)?.[1], "they are read");
  return { ...serving, metrics: `http://${metrics}/metrics` };
}

/** A cluster as `database.clusters` names it. */
export interface ServedCluster {
  readonly name: string;
  readonly uri: string;
}

/** The variables that name clusters, whose databases are migrated. */
export function clusterSettings(
  clusters: readonly ServedCluster[],
): Readonly<Record<string, string>> {
  return {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_CLUSTERS: JSON.stringify(clusters),
    SERVICE_DATABASE_AUTO_MIGRATE: "false",
  };
}

/** Serves tenants on several clusters, with more settings by their variables. */
export async function serveClusters(
  clusters: readonly ServedCluster[],
  settings: Readonly<Record<string, string>>,
): Promise<PembaServing> {
  const { log: _, ...serving } = await start({ ...clusterSettings(clusters), ...settings });
  return serving;
}

/** Serves from memory, in which there is nothing yet. */
export async function serveMemory(): Promise<PembaServing> {
  const { log: _, ...serving } = await start({ SERVICE_DATABASE_ENGINE: "memory" });
  return serving;
}

/** Starts a server of a file, and waits for the line in which it says where it listens. */
export async function startScript(
  file: URL,
): Promise<Omit<Serving, "url"> & { readonly said: string }> {
  const child = spawn(process.execPath, [fileURLToPath(file)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const ended = exited.then(([status]) => {
    throw new Error(`${file.href} ended with ${status}`);
  });
  const [said] = await Promise.race([once(child.stdout, "data"), ended]);
  // From now on it may.
  ended.catch(() => undefined);
  return {
    said: String(said).trim(),
    pid: must(child.pid, "it has started"),
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** The memory that the process and its children have, in MB. */
export async function megabytesOf(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,rss="]);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/ +/).map(Number));
  const own = rows.filter(([one, parent]) => one === pid || parent === pid);
  return own.reduce((sum, [, , kilobytes = 0]) => sum + kilobytes, 0) / 1024;
}

/**
 * Keeps a process, all its threads, on one processor; false where that cannot be done. Else who is
 * answered takes the processor of who answers, and how often depends on what else runs.
 */
export async function keepOn(processor: number, pid: number): Promise<boolean> {
  try {
    await promisify(execFile)("taskset", ["-acp", String(processor), String(pid)]);
    return true;
  } catch {
    return false;
  }
}

/** With what it has logged when it was ready. */
async function start(
  env: Readonly<Record<string, string>>,
  words: readonly string[] = [],
  checkout?: string,
): Promise<PembaServing & { readonly log: string }> {
  const serving = startServing(words, {
    env: { ...unlimited, ...env },
    ...(checkout !== undefined && { main: join(checkout, "src/main.ts") }),
  });
  let log = "";
  serving.process.stdout?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const { url, grpc } = await serving.addresses;
  return {
    log,
    url,
    grpc,
    pid: must(serving.process.pid, "it has started"),
    stop: async () => {
      serving.process.kill("SIGTERM");
      await serving.finished;
    },
  };
}
