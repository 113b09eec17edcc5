import cluster, { type Worker } from "node:cluster";

import { HandedConnections } from "./handed-connections.ts";
import { isFromWorker, type ToWorker, type WorkerOrder } from "./message.ts";
import type { WorkerEnd, WorkerProcess } from "./supervise.ts";

/**
 * Starts a worker with the arguments of this process, and tells it what to do. The workers share the
 * ports that they listen on: this process accepts each connection, and gives it to the next worker.
 */
export function startWorkerProcess(order: WorkerOrder): WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // Metrics have values that JSON cannot write, such as infinity.
  cluster.setupPrimary({ serialization: "advanced" });
  let worker: Worker;
  try {
    worker = cluster.fork();
  } catch (error) {
    return unstarted(error);
  }
  const onMessage: WorkerProcess["onMessage"] = (listener) => {
    worker.on("message", (message: unknown) => {
      if (isFromWorker(message)) listener(message);
    });
  };
  // Node drops what comes while the modules of the worker are loaded.
  let early: ToWorker[] | undefined = [{ kind: "begin", order }];
  const send: WorkerProcess["send"] = (message) => {
    if (early !== undefined) early.push(message);
    // A process that ends meanwhile is noticed by its end.
    else if (worker.isConnected()) worker.send(message, () => undefined);
  };
  onMessage(({ kind }) => {
    if (kind !== "hears") return;
    hearing.add(worker);
    const messages = early ?? [];
    early = undefined;
    for (const message of messages) send(message);
  });
  worker.on("error", () => undefined);
  const onEnd: WorkerProcess["onEnd"] = (listener) => {
    worker.once("exit", (status: number | null, signal: string | null) => {
      const end = { status: status ?? undefined, signal: signal ?? undefined };
      // Its last messages may still come.
      if (worker.isConnected()) worker.once("disconnect", () => listener(end));
      else listener(end);
    });
    worker.once("error", (error) => {
      // Without a process there is no exit.
      if (worker.process.pid === undefined) listener(endOf(error));
    });
  };
  const handed = new HandedConnections(worker);
  onEnd(({ status }) => {
    // One that was told to end has given back what it does not take.
    if (status !== 0) handed.close();
  });
  return { send, kill: () => worker.process.kill("SIGKILL"), onMessage, onEnd };
}

/** Where the system has no room for one more process. */
function unstarted(error: unknown): WorkerProcess {
  return {
    send: () => {},
    kill: () => {},
    onMessage: () => {},
    onEnd: (listener) => void setImmediate(() => listener(endOf(error))),
  };
}

function endOf(error: unknown): WorkerEnd {
  const problem = error instanceof Error ? error.message : String(error);
  return { status: undefined, signal: undefined, problem };
}

/** Workers that have listened for messages, and for signals before. */
const hearing = new WeakSet<Worker>();

/**
 * Tells all workers of this process that the log file was moved. One that does not hear yet would end by the signal,
 * and has not opened the file.
 */
export function passOnHangup(): void {
  process.on("SIGHUP", () => {
    for (const worker of Object.values(cluster.workers ?? {})) {
      if (worker !== undefined && hearing.has(worker)) worker.process.kill("SIGHUP");
    }
  });
}
