import type { TestContext } from "node:test";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { openStore, tenantWithSchema } from "./engines.ts";
import { type Followed, startFollowed } from "./followed.ts";

export interface Opened {
  readonly store: Store;
  readonly tenant: TenantId;
  readonly warnings: readonly string[];
  /** What was told and is no warning. */
  readonly news: readonly string[];
}

/** A server and its standby, and stores that ask both. */
export interface Replicated extends Followed {
  /** A store that asks the standby, with a tenant that both have; it is closed with the test. */
  open(t: TestContext, options?: Partial<PostgresStoreOptions>): Promise<Opened>;
  /** Stops the replay until the test ends or what it answers is called. */
  pauseReplay(t: TestContext): Promise<() => Promise<void>>;
}

export async function startReplicated(): Promise<Replicated> {
  const servers = await startFollowed();
  return {
    ...servers,
    open: async (t, options = {}) => {
      const warnings: string[] = [];
      const news: string[] = [];
      const store = await openStore(options.url ?? servers.url, {
        replicaUrl: servers.standbyUrl,
        warn: (text) => void warnings.push(text),
        info: (text) => void news.push(text),
        ...options,
      });
      t.after(async () => await store.close());
      const tenant = await tenantWithSchema(store);
      await servers.caughtUp();
      return { store, tenant, warnings, news };
    },
    pauseReplay: async (t) => {
      await servers.pause();
      let isPaused = true;
      const resume = async (): Promise<void> => {
        if (isPaused) await servers.resume();
        isPaused = false;
        await servers.caughtUp();
      };
      t.after(resume);
      return resume;
    },
  };
}

export const owner = (name: string): readonly string[] => [`doc:1#owner@user:${name}`];
export const asked = (subject: string, at?: SnapToken) => ({
  id: "1",
  permission: "view",
  subject,
  at,
});

/** How often a replica was left out. */
export function leftOut(warnings: readonly string[]): number {
  return warnings.filter((text) => text.includes("is not asked")).length;
}
