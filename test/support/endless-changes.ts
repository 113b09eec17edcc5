import { once } from "node:events";

import type { SnapToken } from "../../src/base/tuple.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import type { ChangeMessage } from "../../src/store/change.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { ChangeStore } from "../../src/store/store.ts";

/** A service whose store can do everything but for the changes, which are given. */
export function serviceOf(changes: ChangeStore): Service {
  const store = { ...createMemoryStore({ maxSchemaCacheBytes: 1_000_000 }), changes };
  return { store, health: createHealth(store), maxDataPerWrite: 1_000, bulkLimit: 100 };
}

/** A stream of which more is always there, and what becomes of it. */
export interface EndlessChanges {
  readonly changes: ChangeStore;
  /** How many messages have been taken from it. */
  readonly taken: () => number;
  /** Resolves when the follower has gone. */
  readonly left: Promise<void>;
}

const mebibyte = "x".repeat(1024 * 1024);

/** Messages of a mebibyte each; 500 of them, so that a test that fails does not go on for ever. */
export function endlessChanges(): EndlessChanges {
  let taken = 0;
  const { promise: left, resolve } = Promise.withResolvers<void>();
  async function* messages(signal: AbortSignal): AsyncGenerator<ChangeMessage> {
    try {
      while (taken < 500 && !signal.aborted) {
        taken++;
        yield message;
      }
    } finally {
      resolve();
    }
  }
  const start = "start" as SnapToken;
  const changes: ChangeStore = {
    follow: async (_tenant, { signal }) => ({
      start,
      messages: messages(signal),
      delivered: () => start,
    }),
  };
  return { changes, taken: () => taken, left };
}

const message: ChangeMessage = {
  snapToken: "token" as SnapToken,
  changes: [
    {
      operation: "create",
      kind: "attribute",
      attribute: {
        entity: { type: "doc", id: "1" },
        attribute: "text",
        value: { type: "string", data: mebibyte },
      },
    },
  ],
};

/** Nothing ever changes. */
export function silentChanges(): {
  readonly changes: ChangeStore;
  /** Resolves when somebody waits for a message. */
  readonly followed: Promise<void>;
  readonly left: Promise<void>;
} {
  const begun = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const changes: ChangeStore = {
    follow: async (_tenant, { signal }) => ({
      start: "start" as SnapToken,
      delivered: () => "start" as SnapToken,
      messages: {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            begun.resolve();
            if (!signal.aborted) await once(signal, "abort");
            left.resolve();
            return { done: true, value: undefined };
          },
        }),
      },
    }),
  };
  return { changes, followed: begun.promise, left: left.promise };
}
