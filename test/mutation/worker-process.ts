import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

import type { Order, Report, WorkerOptions } from "./protocol.ts";

export interface WorkerStart {
  readonly options: WorkerOptions;
  /** The file of the instrumented sources. */
  readonly instrumented: string;
  /** A fault that is on before anything is loaded. */
  readonly fault: number | undefined;
}

/** How long a worker may take to start on a busy machine. */
const startMs = 120_000;

const heapMegabytes = 1536;

/** A worker, from the side of who started it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  #next: ((report: Report | "ended") => void) | undefined;
  readonly #waiting: (Report | "ended")[] = [];

  private constructor({ options, instrumented, fault }: WorkerStart) {
    this.#child = fork(join(import.meta.dirname, "worker.ts"), {
      execArgv: [
        `--max-old-space-size=${heapMegabytes}`,
        `--import=${join(import.meta.dirname, "load-instrumented.ts")}`,
      ],
      env: {
        ...process.env,
        PEMBA_WORKER: JSON.stringify(options),
        PEMBA_INSTRUMENTED: instrumented,
        ...(fault === undefined ? {} : { PEMBA_FAULT: String(fault) }),
      },
      // What a worker that runs out of memory has to say is of no use.
      stdio: ["ignore", "ignore", fault === undefined ? "inherit" : "ignore", "ipc"],
    });
    this.#child.on("message", (report: Report) => this.#hear(report));
    this.#child.on("exit", () => this.#hear("ended"));
  }

  /** A worker that is ready, and the faults it has reached; undefined when it does not load. */
  static async start(
    start: WorkerStart,
  ): Promise<{ readonly worker: WorkerProcess; readonly reached: readonly number[] } | undefined> {
    const worker = new WorkerProcess(start);
    const report = await worker.report(startMs);
    if (report === undefined || report.kind !== "ready") return undefined;
    return { worker, reached: report.reached };
  }

  /** One that has ended hears nothing: its next report says so. */
  order(order: Order): void {
    if (this.#child.connected) this.#child.send(order);
  }

  /** What it tells next; undefined when it ended, or was ended because it told nothing in time. */
  async report(withinMs: number): Promise<Report | undefined> {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting === "ended" ? undefined : waiting;
    const { promise, resolve } = Promise.withResolvers<Report | "ended">();
    this.#next = resolve;
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), withinMs);
    const report = await promise;
    clearTimeout(timer);
    return report === "ended" ? undefined : report;
  }

  async end(): Promise<void> {
    this.order({ kind: "end" });
    while ((await this.report(10_000)) !== undefined);
  }

  #hear(report: Report | "ended"): void {
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined) this.#waiting.push(report);
    else next(report);
  }
}
