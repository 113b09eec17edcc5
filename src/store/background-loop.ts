import { pause } from "../base/pause.ts";

export interface BackgroundWork {
  readonly everyMs: number;
  /** Begins anew when it failed; the signal says that it should come to an end soon. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Called with each failure. */
  readonly failed: (error: unknown) => void;
}

/** By how much the time between two runs differs, so that instances that start together part. */
const jitter = 0.1;

/** Does something again and again beside the requests, never twice at a time. */
export class BackgroundLoop {
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  /** Begins after a first wait. It does not keep the process alive. */
  constructor(work: BackgroundWork) {
    this.#running = this.#run(work);
  }

  /** Ends the work that is under way, and resolves when it has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run({ everyMs, work, failed }: BackgroundWork): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await pause(everyMs * (1 + jitter * (2 * Math.random() - 1)), signal);
      if (signal.aborted) return;
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) failed(error);
      }
    }
  }
}
