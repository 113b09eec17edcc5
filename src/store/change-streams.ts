import { PembaError } from "../base/error.ts";
import type { Telemetry } from "../base/telemetry.ts";
import type { ChangeStore } from "./store.ts";

/** How far the reader of one stream of changes is behind. */
export interface StreamLag {
  /** There are changes that the reader has not taken. */
  behind(): void;
  /** The reader has taken all changes. */
  caughtUp(): void;
  /** The stream has ended. */
  end(): void;
}

/** How many streams of changes there are, and how far they are behind. */
export class StreamLags {
  /** Since when the reader of each stream is behind. */
  readonly #since = new Map<object, number | undefined>();

  /** A stream begins. */
  open(): StreamLag {
    const key = {};
    this.#since.set(key, undefined);
    return {
      behind: () => {
        this.#since.set(key, this.#since.get(key) ?? performance.now());
      },
      caughtUp: () => {
        this.#since.set(key, undefined);
      },
      end: () => {
        this.#since.delete(key);
      },
    };
  }

  get streams(): number {
    return this.#since.size;
  }

  /** How long the slowest reader has been behind; 0 when none is. */
  get lagMs(): number {
    const now = performance.now();
    return Math.max(0, ...[...this.#since.values()].map((since) => now - (since ?? now)));
  }
}

/** Reports how many streams there are and how far they are behind. */
export function observeStreams({ observe }: Pick<Telemetry, "observe">, lags: StreamLags): void {
  observe("pemba.watch.streams", () => [{ value: lags.streams, labels: {} }]);
  observe("pemba.watch.lag", () => [{ value: lags.lagMs / 1_000, labels: {} }]);
}

/** For a server on which changes cannot be followed. */
export const unwatched: ChangeStore = {
  follow: async () => {
    throw new PembaError(
      "NOT_IMPLEMENTED",
      "watch is not enabled on this server: see `service.watch.enabled`",
    );
  },
};
