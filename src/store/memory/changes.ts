import { TimeSlice } from "../../base/time-slice.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { StreamLags } from "../change-streams.ts";
import { type ChangeMessage, messageEnd } from "../change.ts";
import { expiredSnapToken, tenantNotFound } from "../store-error.ts";
import type { ChangeStore } from "../store.ts";
import type { ChangeLog } from "./change-log.ts";
import type { MemoryData } from "./data.ts";
import type { Revision } from "./revision.ts";

/**
 * Follows the changes of data that keeps a log of them; a stream holds nothing but its place. One
 * without changes for `quietMs` sends its state.
 */
export function createMemoryChanges(
  data: MemoryData,
  quietMs: number,
  lags: StreamLags,
): ChangeStore {
  return {
    follow: async (tenant, { after, signal }) => {
      const log = data.changes(tenant);
      const from = after === undefined ? data.revision : data.revisionOf(tenant, after);
      const place = { given: from };
      return {
        start: data.tokenOf(from),
        messages: messagesOf(data, { tenant, log, place, signal, quietMs, lags }),
        // What was written since is of other tenants, unless it is in the log.
        delivered: () =>
          data.tokenOf(log.after(place.given) === undefined ? data.revision : place.given),
      };
    },
  };
}

async function* messagesOf(
  data: MemoryData,
  stream: {
    readonly tenant: TenantId;
    readonly log: ChangeLog;
    /** The state of the last token. */
    readonly place: { given: Revision };
    readonly signal: AbortSignal;
    readonly quietMs: number;
    readonly lags: StreamLags;
  },
): AsyncGenerator<ChangeMessage> {
  const { log, signal, place, quietMs } = stream;
  const lag = stream.lags.open();
  const slice = new TimeSlice();
  let deliveredAt = performance.now();
  try {
    while (!signal.aborted) {
      if (log.isEnded) throw tenantNotFound(stream.tenant);
      const write = log.after(place.given);
      if (write === "forgotten") throw expiredSnapToken();
      if (write === undefined) {
        lag.caughtUp();
        const silence = performance.now() - deliveredAt;
        if (silence < quietMs) {
          await log.grown(signal, quietMs - silence);
        } else {
          deliveredAt = performance.now();
          place.given = data.revision;
          yield { changes: [], snapToken: data.tokenOf(place.given) };
        }
        continue;
      }
      lag.behind();
      deliveredAt = performance.now();
      const { changes, revision } = write;
      for (let start = 0; start < changes.length;) {
        const end = messageEnd(changes, start);
        // A part of a write has no new token, or it would look like a whole.
        if (end === changes.length) place.given = revision;
        yield { changes: changes.slice(start, end), snapToken: data.tokenOf(place.given) };
        start = end;
        // Everything is in memory: a client that takes messages fast would hold up all others.
        if (slice.isOver) await slice.renew(undefined);
      }
    }
  } finally {
    lag.end();
  }
}
