import { availableParallelism, totalmem } from "node:os";

import type { Config } from "../config/options.ts";
import { type DatabaseKeys, readsOnThisMachine } from "./reading-place.ts";

/** Each worker that `auto` starts has so many connections to the database at least. */
const connectionsOfWorker = 5;

/** And so much of the memory. A container that needs more is ended, with all workers. */
const bytesOfWorker = 512 * 1_024 ** 2;

type WorkerKeys = "server.workers" | "database.engine" | "database.max_connections" | DatabaseKeys;

/** What the process may use; limits of its container count. */
interface Machine {
  readonly processors: number;
  /** In bytes. */
  readonly memory: number;
}

/** How many workers an instance has, and what its operator should know about that. */
export interface WorkerCount {
  readonly workers: number;
  readonly warning: string | undefined;
}

/** How many workers the configuration asks for, at most one for each processor. */
export function workerCountOf(
  config: Pick<Config, WorkerKeys>,
  { processors, memory }: Machine = ownMachine(),
): WorkerCount {
  const wanted = config["server.workers"];
  if (wanted === "auto") {
    const isAlone = config["database.engine"] === "memory";
    const served = Math.floor(config["database.max_connections"] / connectionsOfWorker);
    const held = Math.floor(memory / bytesOfWorker);
    // A Postgres beside the workers needs processors for most of what they do.
    const free = readsOnThisMachine(config) ? Math.floor(processors / 2) : processors;
    const workers = isAlone ? 1 : Math.max(1, Math.min(free, served, held));
    return { workers, warning: undefined };
  }
  if (wanted <= processors) return { workers: wanted, warning: undefined };
  return {
    workers: processors,
    warning: `\`server.workers\`: is ${wanted}, but there are ${processors} processors, so ${processors} workers are started`,
  };
}

function ownMachine(): Machine {
  const limit = process.constrainedMemory();
  // Without a limit it is none, or more than there is.
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { processors: availableParallelism(), memory };
}
