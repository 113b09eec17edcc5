/** How the listeners of a process close. */
import { test } from "node:test";

import { pino } from "pino";

import { drain } from "../../src/cli/servers.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";

test(
  "a listener that never says that it has closed does not keep the process",
  { timeout: 20_000 },
  async (t) => {
    const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
    const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
    const logger = pino({ level: "silent" });
    const http = buildHttpServer({ service, admission: admitAll, logger });
    // As the connection does for which it waits.
    const open = setInterval(() => undefined, 1_000);
    t.after(async () => {
      clearInterval(open);
      await store.close();
    });
    const cut = Promise.withResolvers<void>();
    const grpc = {
      listen: async () => 0,
      close: async () => await new Promise<void>(() => undefined),
      cut: () => cut.resolve(),
    };
    await drain({ http, grpc }, 1, logger);
    await cut.promise;
  },
);
