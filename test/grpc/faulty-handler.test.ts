import assert from "node:assert/strict";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";
import { pino } from "pino";

import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";
import { failure, serveGrpc } from "../support/grpc.ts";

test("what a handler throws is logged, and the call fails as for any other fault", async (t) => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  let isFaulty = true;
  const telemetry: Telemetry = {
    ...noTelemetry,
    begin: (request) => {
      if (!isFaulty) return noTelemetry.begin(request);
      isFaulty = false;
      throw new Error("a fault of the handler");
    },
  };
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  const grpc = await serveGrpc(service, admitAll, telemetry, logger);
  t.after(async () => await grpc.close());
  const { code, details } = await failure(grpc.client.call(Health.method.check, {}));
  assert.equal(code, status.INTERNAL);
  assert.match(
    details,
    /^ERROR_CODE_INTERNAL: the request failed because of a fault in the server/,
  );
  assert.match(lines.join(""), /a fault of the handler/);
  // The process serves on.
  await grpc.client.call(Health.method.check, {});
});
