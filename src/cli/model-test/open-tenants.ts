import { randomUUID } from "node:crypto";

import { PembaError } from "../../base/error.ts";
import { noTelemetry } from "../../base/telemetry.ts";
import type { Config } from "../../config/options.ts";
import {
  openMemoryTenant,
  type OpenTenant,
  serviceOver,
} from "../../model-test/run/memory-tenant.ts";
import { createTenant, deleteTenant } from "../../service/tenants.ts";
import type { LogSink } from "../../telemetry/log-sink.ts";
import { createLogger } from "../../telemetry/logger.ts";
import { openStore } from "../open-store.ts";

/** Opens tenants for model tests on the configured engine. */
export interface TestTenants {
  /** Whether a tenant outlives the process unless it is closed. */
  readonly areKept: boolean;
  readonly open: () => Promise<OpenTenant>;
  /** Closes those that are open as well. */
  close(): Promise<void>;
}

/** The memory engine begins empty for each test. On Postgres each test has a new tenant. */
export async function openTestTenants(config: Config): Promise<TestTenants> {
  if (config["database.engine"] === "memory") {
    return { areKept: false, open: async () => openMemoryTenant(), close: async () => {} };
  }
  // What a server does besides its answers would outlive the test.
  const alone = {
    ...config,
    "database.garbage_collection.enabled": false,
    "database.sql.enabled": false,
    "service.watch.enabled": false,
  } as const;
  // Standard output is for reports.
  const logger = createLogger({ level: "warn", output: "text", sink: standardError });
  const parts = { logger, telemetry: noTelemetry };
  const store = await openStore(alone, parts, new AbortController().signal);
  const service = serviceOver(store);
  const opened = new Set<string>();
  let isClosed = false;
  const remove = async (id: string): Promise<void> => {
    if (opened.delete(id)) await deleteTenant(service, { id });
  };
  return {
    areKept: true,
    open: async () => {
      // A run that was stopped may still ask for its next one.
      if (isClosed) throw new PembaError("CANCELLED", "the run is stopped");
      const id = `model-test-${randomUUID()}`;
      await createTenant(service, { id, name: "model test" });
      opened.add(id);
      return { service, tenantId: id, close: async () => await remove(id) };
    },
    close: async () => {
      isClosed = true;
      for (const id of opened) await remove(id);
      await store.close();
    },
  };
}

const standardError: LogSink = {
  isTerminal: process.stderr.isTTY,
  write: (line) => void process.stderr.write(line),
};
