import type { TenantId } from "../../base/tuple.ts";
import { type ChangeMessage, partsOf } from "../change.ts";
import { expiredSnapToken, tenantNotFound } from "../store-error.ts";
import type { ChangeStore } from "../store.ts";
import type { ChangeLog } from "./change-log.ts";
import type { MemoryData } from "./data.ts";
import type { Revision } from "./revision.ts";

/** Follows the changes of data that keeps a log of them; a stream holds nothing but its place. */
export function createMemoryChanges(data: MemoryData): ChangeStore {
  return {
    follow: async (tenant, { after, signal }) => {
      const { log, revision } = data.changes(tenant);
      const from = after === undefined ? revision : data.revisionOf(tenant, after);
      const messages = messagesOf(data, { tenant, log, from, signal });
      return { start: data.tokenOf(from), messages };
    },
  };
}

async function* messagesOf(
  data: MemoryData,
  stream: {
    readonly tenant: TenantId;
    readonly log: ChangeLog;
    readonly from: Revision;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<ChangeMessage> {
  const { log, signal } = stream;
  let told = stream.from;
  while (!signal.aborted) {
    if (log.isEnded) throw tenantNotFound(stream.tenant);
    const write = log.after(told);
    if (write === "forgotten") throw expiredSnapToken();
    if (write === undefined) {
      await log.grown(signal);
      continue;
    }
    const parts = partsOf(write.changes);
    for (const [index, changes] of parts.entries()) {
      const isLast = index === parts.length - 1;
      yield { changes, snapToken: data.tokenOf(isLast ? write.revision : told) };
    }
    told = write.revision;
  }
}
