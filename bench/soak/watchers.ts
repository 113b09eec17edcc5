import { setTimeout as wait } from "node:timers/promises";

import type { SnapToken } from "../../src/base/tuple.ts";
import type { BothClients } from "../clients/both.ts";

/** Streams of all changes of the tenant, over both transports. */
export interface Watchers {
  /** How many of so many changes the slowest stream has not delivered, once it delivers no more. */
  readonly undelivered: (changes: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

const perTransport = 2;
const patienceMs = 30_000;

/** Watches what changes after the state that the token names. */
export function watchWrites({ rest, grpc }: BothClients, after: SnapToken): Watchers {
  const end = new AbortController();
  const clients = Array.from({ length: perTransport }, () => [rest, grpc]).flat();
  const delivered = clients.map(() => 0);
  const streams = clients.map(async ({ follow }, nth) => {
    try {
      for await (const ids of follow(after, end.signal)) {
        delivered[nth] = (delivered[nth] ?? 0) + ids.length;
      }
    } catch (error) {
      if (!end.signal.aborted) throw error;
    }
  });
  // One that fails early is reported when all are closed.
  const ended = Promise.allSettled(streams);
  return {
    undelivered: async (changes) => {
      const deadline = performance.now() + patienceMs;
      while (Math.min(...delivered) < changes && performance.now() < deadline) await wait(20);
      return changes - Math.min(...delivered);
    },
    close: async () => {
      end.abort();
      for (const stream of await ended) if (stream.status === "rejected") throw stream.reason;
    },
  };
}
