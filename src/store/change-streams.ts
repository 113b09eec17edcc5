import { PembaError } from "../base/error.ts";
import type { Telemetry } from "../base/telemetry.ts";
import type { ChangeStore } from "./store.ts";

/** What one stream of changes owes to who takes its messages. */
export interface StreamLag {
  /** There is something to tell. */
  behind(): void;
  /** All has been taken. */
  caughtUp(): void;
  /** The stream has ended. */
  end(): void;
}

/** How many streams of changes there are, and how far they are behind. */
export class StreamLags {
  /** Since when each has something to tell. */
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

  /** For how long the one that is most behind has been so; 0 when none is. */
  get lagMs(): number {
    const now = performance.now();
    return Math.max(0, ...[...this.#since.values()].map((since) => now - (since ?? now)));
  }
}

/** Has them told. */
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
