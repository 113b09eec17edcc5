import type { SnapToken } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { checkThrough, firstTenant, lookUpThrough } from "../../test/data/ask-store.ts";
import type { ReadClient } from "./client.ts";

/** Asks a store, with no transport between. */
export function connectEngine(store: Store): ReadClient {
  return {
    check: async (question, pins) => await checkThrough(store, question, pins),
    lookUp: async (lookup, page) => (await lookUpThrough(store, lookup, page)).items,
    follow: (after, signal) => follow(store, after, signal),
  };
}

async function* follow(
  store: Store,
  after: SnapToken,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const { messages } = await store.changes.follow(firstTenant, { after, signal });
  for await (const { changes } of messages) {
    yield changes.flatMap((change) => (change.kind === "tuple" ? [change.tuple.entity.id] : []));
  }
}
