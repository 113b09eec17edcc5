import { setTimeout as wait } from "node:timers/promises";

import type { ProcessMeasures } from "../telemetry/combine-measures.ts";
import type { WorkersMeasures } from "../telemetry/measures.ts";
import type { WorkerProcess } from "./supervise.ts";

/** A worker whose event loop is held must not delay the reader of the metrics for longer. */
const lateMs = 1_000;

/** A worker, and what it said last. */
interface MeasuredWorker {
  readonly process: WorkerProcess;
  last: ProcessMeasures;
  readonly asked: Map<number, () => void>;
}

/** Asks the workers of this process what they have measured. */
export class MeasuredWorkers implements WorkersMeasures {
  readonly #workers = new Set<MeasuredWorker>();
  #ended: ProcessMeasures[] = [];
  #lastId = 0;

  joined(process: WorkerProcess): void {
    const worker: MeasuredWorker = { process, last: [], asked: new Map() };
    this.#workers.add(worker);
    process.onMessage((message) => {
      if (message.kind !== "measured") return;
      worker.last = message.measures;
      if (message.id !== undefined) worker.asked.get(message.id)?.();
    });
    process.onEnd(() => {
      this.#workers.delete(worker);
      if (worker.last.length > 0) this.#ended.push(worker.last);
      for (const answered of worker.asked.values()) answered();
    });
  }

  async read(): Promise<readonly ProcessMeasures[]> {
    const answers = [...this.#workers].map(async (worker) => await this.#ask(worker));
    await Promise.all(answers);
    // Those that have ended meanwhile are in what they leave.
    return [...this.#workers].map(({ last }) => last);
  }

  takeEnded(): readonly ProcessMeasures[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  /** Resolves when the worker has answered, has ended, or is late. */
  async #ask({ process, asked }: MeasuredWorker): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve } = Promise.withResolvers<void>();
    const over = new AbortController();
    asked.set(id, resolve);
    process.send({ kind: "measure", id });
    const late = wait(lateMs, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([promise, late]);
    over.abort();
    asked.delete(id);
  }
}
