import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { pino } from "pino";

import { noTelemetry } from "../../src/base/telemetry.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { openStore } from "../../src/cli/open-store.ts";
import { limitTime } from "../../src/store/layer/limit-time.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import type { Store } from "../../src/store/store.ts";
import { allowed, tenantWithSchema, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { configOf } from "../support/given-config.ts";
import { type Line, openLine } from "../support/line.ts";

/** After so long, a request of a cluster that does not answer is refused. */
const timeoutMs = 2_000;

interface OpenClusters {
  /** Of the databases themselves. */
  readonly urls: Readonly<Record<"a" | "b", string>>;
  /** To the databases of the clusters a and b. The first one has the directory. */
  readonly lines: Readonly<Record<"a" | "b", Line>>;
  /** A store over them as a server opens it, with these flags besides. */
  readonly open: (...flags: readonly string[]) => Promise<Store>;
}

/** The databases of two clusters behind lines. Stores are closed after the test. */
export async function clustersOf(t: TestContext): Promise<OpenClusters> {
  const [a, b] = [await createMigratedDatabase(), await createMigratedDatabase()];
  const stores: Store[] = [];
  t.after(async () => {
    await Promise.all(stores.map(async (store) => await store.close()));
    await a.drop();
    await b.drop();
  });
  const lines = { a: await openLine(t, a.url), b: await openLine(t, b.url) };
  const clusters = JSON.stringify([
    { name: "a", uri: lines.a.url },
    { name: "b", uri: lines.b.url },
  ]);
  return {
    urls: { a: a.url, b: b.url },
    lines,
    open: async (...flags) => {
      const config = configOf({
        args: [
          "--database-engine=postgres",
          `--database-clusters=${clusters}`,
          `--database-read-timeout=${timeoutMs}ms`,
          `--database-write-timeout=${timeoutMs}ms`,
          "--database-start-timeout=0",
          ...flags,
        ],
      });
      const observation = { logger: pino({ level: "silent" }), telemetry: noTelemetry };
      const opened = await openStore(config, observation, t.signal);
      const time = limitTime({ readMs: timeoutMs, changeMs: timeoutMs });
      const store = withLayers(opened, { time });
      stores.push(store);
      return store;
    },
  };
}

/** A tenant on a cluster, where user 1 may view document 1. */
export async function tenantWithDocument(store: Store, cluster: string): Promise<TenantId> {
  const tenant = await tenantWithSchema(store, cluster);
  await write(store, tenant, { tuples: ["doc:1#owner@user:1"] });
  return tenant;
}

/** May user 1 view document 1 of the tenant? */
export async function mayView(store: Store, tenant: TenantId): Promise<boolean> {
  return await allowed(store, tenant, { id: "1", permission: "view", subject: "1" });
}

/** Waits until the tenant is served. Its requests fail for want of its database until then. */
export async function untilServed(store: Store, tenant: TenantId): Promise<boolean> {
  return await until(async () => {
    try {
      return await mayView(store, tenant);
    } catch (error) {
      assert.match(String(error), refusals);
      return undefined;
    }
  });
}

/** The work fails for want of a database. */
export async function refused(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, refusals);
}

const refusals = /ERROR_CODE_(UNAVAILABLE|DEADLINE_EXCEEDED|CIRCUIT_BREAKER)/;
