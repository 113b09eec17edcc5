import cluster from "node:cluster";

import { type FromWorker, isToWorker, type ToWorker, type WorkerOrder } from "./message.ts";

/** Whether this process is a worker that a supervisor has started. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/** The connection of a worker to its supervisor. The worker ends when it is lost. */
export class SupervisorChannel {
  /** Resolves to what the worker is to do. */
  readonly order: Promise<WorkerOrder>;
  /** Resolves to the name of the signal when the worker is to end. */
  readonly stop: Promise<string>;
  readonly #listeners: ((message: ToWorker) => void)[] = [];

  constructor() {
    const order = Promise.withResolvers<WorkerOrder>();
    const stop = Promise.withResolvers<string>();
    this.order = order.promise;
    this.stop = stop.promise;
    this.onMessage((message) => {
      if (message.kind === "begin") order.resolve(message.order);
      if (message.kind === "stop") stop.resolve(message.signal);
    });
    process.on("message", (message: unknown) => {
      if (!isToWorker(message)) return;
      for (const listener of this.#listeners) listener(message);
    });
    this.send({ kind: "hears" });
  }

  onMessage(listener: (message: ToWorker) => void): void {
    this.#listeners.push(listener);
  }

  send(message: FromWorker): void {
    void this.deliver(message);
  }

  /** Resolves when the message has been sent. Never fails: without the supervisor this one ends. */
  async deliver(message: FromWorker): Promise<void> {
    if (process.send === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    process.send(message, undefined, {}, () => resolve());
    await promise;
  }
}
