import { randomUUID } from "node:crypto";

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
  readonly open: () => Promise<OpenTenant>;
  close(): Promise<void>;
}

/** The memory engine begins empty for each test. On Postgres each test has a new tenant. */
export async function openTestTenants(config: Config): Promise<TestTenants> {
  if (config["database.engine"] === "memory") {
    return { open: async () => openMemoryTenant(), close: async () => {} };
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
  return {
    open: async () => {
      const id = `model-test-${randomUUID()}`;
      await createTenant(service, { id, name: "model test" });
      return {
        service,
        tenantId: id,
        close: async () => {
          await deleteTenant(service, { id });
        },
      };
    },
    close: async () => await store.close(),
  };
}

const standardError: LogSink = {
  isTerminal: process.stderr.isTTY,
  write: (line) => void process.stderr.write(line),
  reopen: () => undefined,
};
