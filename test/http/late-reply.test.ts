import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";

import { pino } from "pino";

import { createAdmission } from "../../src/auth/admission.ts";
import { type Credential, fullCredential } from "../../src/auth/credential.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { limitStreams } from "../../src/store/layer/limit-streams.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";
import { usualIntake } from "../support/usual-intake.ts";

test("a client that leaves, or whose time is over, before a stream begins is no fault of the server", async (t) => {
  const memory = createMemoryStore({ maxSchemaCacheBytes: 1_000_000, watch: { readAheadMax: 1 } });
  let asked = Promise.withResolvers<void>();
  const changes: typeof memory.changes = {
    ...memory.changes,
    async follow(tenant, request) {
      const { signal } = request;
      const stream = await memory.changes.follow(tenant, request);
      asked.resolve();
      if (!signal.aborted) await once(signal, "abort");
      return stream;
    },
  };
  const store = { ...memory, changes };
  const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line) => void lines.push(line) });
  const app = buildHttpServer({ service, admission: admitAll, logger });
  t.after(async () => {
    await app.close();
    await memory.close();
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  lines.length = 0;
  for (const form of ["documented", "protobuf"]) {
    const headers = { "pemba-json": form };
    const leaving = new AbortController();
    asked = Promise.withResolvers();
    const { signal } = leaving;
    const asking = { method: "POST", body: "{}" };
    const answer = fetch(`${url}/v1/tenants/t1/watch`, { ...asking, headers, signal });
    const left = assert.rejects(answer, { name: "AbortError" });
    await asked.promise;
    leaving.abort();
    await left;
    const inTime = { ...headers, "grpc-timeout": "10m" };
    const late = await fetch(`${url}/v1/tenants/t1/watch`, { ...asking, headers: inTime });
    assert.equal(late.status, 504);
    await late.text();
  }
  // What is written of a request is written before the next one is answered.
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.deepEqual(lines, []);
});

test("a probe of health whose time is over gets one answer", async (t) => {
  const memory = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const answering = Promise.withResolvers<boolean>();
  const health = { ...createHealth(memory), serving: async () => await answering.promise };
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line) => void lines.push(line) });
  const service = { store: memory, health, maxDataPerWrite: 1, bulkLimit: 1 };
  const app = buildHttpServer({ service, admission: admitAll, logger });
  t.after(async () => {
    await app.close();
    await memory.close();
  });
  const headers = { "grpc-timeout": "10m" };
  const { statusCode } = await app.inject({ method: "GET", url: "/healthz", headers });
  assert.equal(statusCode, 504);
  answering.resolve(true);
  assert.equal((await app.inject({ method: "GET", url: "/healthz" })).statusCode, 200);
  assert.deepEqual(lines, []);
});

test("a client that leaves while its token is looked at leaves no stream of changes behind", async (t) => {
  const intake = usualIntake({ streamsOfTenant: 1 });
  const store = withLayers(
    createMemoryStore({ maxSchemaCacheBytes: 1_000_000, watch: { readAheadMax: 1 } }),
    { streams: limitStreams(intake) },
  );
  const looking = Promise.withResolvers<void>();
  const looked = Promise.withResolvers<Credential>();
  const admission = createAdmission({
    rateLimit: createRateLimit(1_000),
    intake,
    authenticator: {
      async verify() {
        looking.resolve();
        return await looked.promise;
      },
      close: async () => {},
    },
  });
  const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  const app = buildHttpServer({ service, admission, logger: pino({ level: "silent" }) });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
    await store.close();
  });
  const gone = Promise.withResolvers<void>();
  app.server.once("connection", (socket: Socket) => socket.once("close", () => gone.resolve()));
  const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/v1/tenants/t1/watch`;
  const headers = { authorization: "Bearer key" };
  const leaving = new AbortController();
  const answer = fetch(url, { headers, signal: leaving.signal });
  const left = assert.rejects(answer, { name: "AbortError" });
  await looking.promise;
  leaving.abort();
  await left;
  await gone.promise;
  looked.resolve(fullCredential());
  assert.equal((await fetch(url, { headers })).status, 200);
});
