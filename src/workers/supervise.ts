import { timerMs } from "../base/pause.ts";
import type { FromWorker, ToWorker } from "./message.ts";

/** The process of a worker, as the supervisor sees it. */
export interface WorkerProcess {
  /** Does nothing if the process has ended. */
  send(message: ToWorker): void;
  /** Ends the process at once. */
  kill(): void;
  onMessage(listener: (message: FromWorker) => void): void;
  /** Called once when the process has ended. */
  onEnd(listener: (end: WorkerEnd) => void): void;
}

/** How a process ended. */
export interface WorkerEnd {
  /** Undefined if a signal ended it. */
  readonly status: number | undefined;
  readonly signal: string | undefined;
  /** Why the system could not start it. */
  readonly problem?: string;
}

export interface SupervisionOptions {
  readonly workers: number;
  /**
   * Starts the process of a worker. `number` is from 1. `isFirst` is true for the first process of an
   * instance, and `isRestart` for one that replaces another one.
   */
  readonly start: (worker: {
    readonly number: number;
    readonly isFirst: boolean;
    readonly isRestart: boolean;
  }) => WorkerProcess;
  readonly warn: (fields: object, message: string) => void;
  /** A process that replaces another one is ended if it is not ready after so many milliseconds. */
  readonly readyMs: number;
  /** After the stop, workers that have not ended after so many milliseconds are ended. */
  readonly stopMs: number;
  /** Called once, when all workers are ready. */
  readonly ready: () => void;
  /** Called when the signal has come, before the workers are told to end. */
  readonly stopping: (signal: string) => void;
}

/** A worker that was ready for less counts as one that failed. */
const steadyMs = 60_000;

/** After the second failure in a row, the wait before the next process doubles from the first to the last. */
const waitsMs = { first: 250, last: 10_000 } as const;

/** The instance ends when so many processes in a row ended before they were ready. */
const failedStartsMax = 5;

/** A ready worker is asked each so many milliseconds whether it is alive, and ended when so many questions got no answer. */
const alive = { everyMs: 5_000, unansweredMax: 12 } as const;

/** A worker by its number, over all processes that it has had. */
interface Seat {
  readonly number: number;
  process: WorkerProcess | undefined;
  /** The clock in milliseconds when the process became ready. */
  readyAt: number | undefined;
  /** How many processes in a row failed. */
  failures: number;
}

/**
 * Keeps so many workers running until `stop` resolves to the name of a signal, and resolves to the exit
 * status of the instance when all have ended. The first worker starts alone, so that it migrates the
 * database before the others ask it. If a worker ends before the instance was ready, the instance ends
 * with its status. Later a worker that ends is replaced.
 */
export async function supervise(
  stop: Promise<string>,
  options: SupervisionOptions,
): Promise<number> {
  return await new Supervision(options).run(stop);
}

class Supervision {
  readonly #options: SupervisionOptions;
  readonly #seats: readonly Seat[];
  readonly #ended = Promise.withResolvers<number>();
  /** Of workers that are to be replaced. */
  readonly #restarts = new Set<NodeJS.Timeout>();
  #isStopping = false;
  #wasReady = false;
  #failedStarts = 0;
  #status = 0;

  constructor(options: SupervisionOptions) {
    this.#options = options;
    this.#seats = Array.from({ length: options.workers }, (_, index) => ({
      number: index + 1,
      process: undefined,
      readyAt: undefined,
      failures: 0,
    }));
  }

  async run(stop: Promise<string>): Promise<number> {
    void stop.then((signal) => this.#stop(signal));
    const [first] = this.#seats;
    if (first !== undefined) this.#start(first);
    return await this.#ended.promise;
  }

  #start(seat: Seat): void {
    const { number } = seat;
    const isFirst = !this.#wasReady && number === 1 && seat.failures === 0;
    const isRestart = seat.failures > 0 || this.#wasReady;
    const worker = this.#options.start({ number, isFirst, isRestart });
    seat.process = worker;
    seat.readyAt = undefined;
    worker.onMessage((message) => {
      if (message.kind !== "ready") return;
      this.#watch(number, worker);
      this.#isReady(seat);
    });
    // The first start has the time that the orchestrator gives it: it may migrate the database.
    if (this.#wasReady) this.#endUnready(number, worker);
    worker.onEnd((end) => this.#hasEnded(seat, end));
  }

  /** Ends a worker that does not become ready, so that another one is tried. */
  #endUnready(number: number, worker: WorkerProcess): void {
    const timer = setTimeout(() => {
      this.#options.warn({ worker: number }, "a worker that does not become ready is ended");
      worker.kill();
    }, timerMs(this.#options.readyMs)).unref();
    worker.onMessage((message) => {
      if (message.kind === "ready") clearTimeout(timer);
    });
    worker.onEnd(() => clearTimeout(timer));
  }

  /**
   * Ends a worker whose event loop is held. Its connections would wait for ever, and no probe meets it: it takes
   * no new ones. One that is not ready may be slow to load, and has another limit.
   */
  #watch(number: number, worker: WorkerProcess): void {
    let unanswered = 0;
    const timer = setInterval(() => {
      if (unanswered < alive.unansweredMax) {
        unanswered += 1;
        worker.send({ kind: "ask_alive" });
        return;
      }
      this.#options.warn({ worker: number }, "a worker that does not answer is ended");
      worker.kill();
    }, alive.everyMs).unref();
    worker.onMessage((message) => {
      if (message.kind === "alive") unanswered = 0;
    });
    worker.onEnd(() => clearInterval(timer));
  }

  #isReady(seat: Seat): void {
    seat.readyAt = performance.now();
    this.#failedStarts = 0;
    if (this.#wasReady || this.#isStopping) return;
    for (const other of this.#seats) {
      if (other.process === undefined && other.failures === 0) this.#start(other);
    }
    if (this.#seats.some(({ readyAt }) => readyAt === undefined)) return;
    this.#wasReady = true;
    this.#options.ready();
  }

  #hasEnded(seat: Seat, end: WorkerEnd): void {
    seat.process = undefined;
    if (this.#isStopping) {
      this.#finish(end);
      return;
    }
    const { readyAt } = seat;
    seat.readyAt = undefined;
    if (readyAt === undefined) {
      this.#failedStarts += 1;
      if (!this.#wasReady || this.#failedStarts >= failedStartsMax) {
        this.#giveUp(seat, end);
        return;
      }
    }
    const wasSteady = readyAt !== undefined && performance.now() - readyAt >= steadyMs;
    seat.failures = wasSteady ? 1 : seat.failures + 1;
    this.#restartLater(seat, end);
  }

  #restartLater(seat: Seat, end: WorkerEnd): void {
    const milliseconds = waitOf(seat.failures);
    this.#options.warn(
      { worker: seat.number, ...end, milliseconds },
      "a worker has ended, another process takes its place",
    );
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#start(seat);
    }, milliseconds);
    this.#restarts.add(timer);
  }

  /** A worker that was started has said on standard error why it cannot serve. */
  #giveUp({ number }: Seat, end: WorkerEnd): void {
    this.#status = end.status ?? 1;
    if (!this.#wasReady && end.problem !== undefined) {
      this.#options.warn({ worker: number, ...end }, "a worker cannot be started");
    }
    if (this.#wasReady) {
      this.#options.warn(
        { worker: number, ...end },
        `${failedStartsMax} workers in a row have ended before they were ready, so the instance ends`,
      );
    }
    this.#stop(undefined);
  }

  #stop(signal: string | undefined): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    if (signal !== undefined) this.#options.stopping(signal);
    for (const { process } of this.#seats) {
      process?.send({ kind: "stop", signal: signal ?? "SIGTERM" });
    }
    setTimeout(() => this.#killLate(), timerMs(this.#options.stopMs)).unref();
    this.#finish(undefined);
  }

  /** A worker whose event loop is held does not end by itself. */
  #killLate(): void {
    for (const { number, process } of this.#seats) {
      if (process === undefined) continue;
      this.#options.warn({ worker: number }, "a worker that did not end in time is ended");
      process.kill();
    }
  }

  #finish(end: WorkerEnd | undefined): void {
    if (end !== undefined && end.status !== 0 && this.#status === 0) {
      this.#status = end.status ?? 1;
    }
    if (this.#seats.every(({ process }) => process === undefined))
      this.#ended.resolve(this.#status);
  }
}

/** The first failure in a long time is no reason to wait. */
function waitOf(failures: number): number {
  if (failures <= 1) return 0;
  return Math.min(waitsMs.last, waitsMs.first * 2 ** (failures - 2));
}
