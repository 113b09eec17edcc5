/** How many requests a client may send ahead on a connection of REST. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { connect as connectTls } from "node:tls";

import { pino } from "pino";

import { must } from "../../src/base/assert.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";
import { makeCertificate } from "../support/certificate-files.ts";
import { engines } from "../support/engines.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { check, idOf, schema, serve } from "./served.ts";
import { headOf } from "./wire.ts";

const host = "127.0.0.1";

/** Most that a read from a connection brings. */
const readBytes = 65_536;

/** As long as an ordinary request. */
const usual = `GET /healthz HTTP/1.1\r\nhost: x\r\nfiller: ${"x".repeat(200)}\r\n\r\n`;

interface Scene {
  /** How many requests have been read. */
  readonly read: number;
  /** A connection of which nothing is read before the test reads it. */
  open(): Promise<Socket>;
  /** Has requests wait until what it returns is called. */
  hold(): () => void;
}

for (const isEncrypted of [false, true]) {
  describe(isEncrypted ? "an encrypted connection" : "a connection", () => suite(isEncrypted));
}

function suite(isEncrypted: boolean): void {
  test("that sends more ahead than is read is read again when the answers have gone", async (t) => {
    const scene = await open(t, isEncrypted);
    const letGo = scene.hold();
    const client = await scene.open();
    const all = 2_000;
    client.write(usual.repeat(all));
    await until(async () => (scene.read >= 100 ? true : undefined));
    const other = await scene.open();
    other.resume();
    for (let round = 0; round < 20; round++) {
      const before = scene.read;
      other.write(usual);
      await until(async () => (scene.read > before ? true : undefined));
    }
    assert.ok(scene.read < 120 + readBytes / usual.length, `${scene.read} were read`);
    letGo();
    assert.equal(await answersOn(client, all), all);
  });

  test("that sends very many ahead in one read is closed", async (t) => {
    const scene = await open(t, isEncrypted);
    for (const headers of ["", "expect:x\r\n"]) {
      const before = scene.read;
      const client = await scene.open();
      client.write(`GET / HTTP/1.1\r\n${headers}\r\n`.repeat(50_000));
      client.resume();
      await until(async () => (client.destroyed ? true : undefined));
      assert.ok(scene.read - before <= 502, `${scene.read - before} were read`);
    }
  });
}

test("a request that waits behind another one holds nothing after CONNECT", async (t) => {
  const memory = must(engines[0], "there is an engine");
  const served = await serve(t, memory, { requestsOfTenant: 1 });
  const tenants = [await served.app.tenant(schema), await served.app.tenant(schema)];
  const held = tenants.map((tenant) => served.holdChecks(idOf(tenant)));
  const body = JSON.stringify(check);
  const client = await served.open();
  for (const tenant of tenants) {
    client.write(`${headOf(tenant, body.length, { path: "permissions/check" })}${body}`);
  }
  await until(async () => (held.every(({ count }) => count === 1) ? true : undefined));
  client.resume().write("CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n");
  // The checks are still held up.
  for (const tenant of tenants) {
    await until(async () => {
      const init = { method: "POST", body: "{}" };
      const { status } = await fetch(`${served.url}${tenant}/schemas/list`, init);
      return status === 200 ? true : undefined;
    });
  }
});

/** How many of so many answers come. */
async function answersOn(socket: Socket, expected: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  let count = 0;
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    const parts = (text + chunk).split("HTTP/1.1 200 ");
    text = (parts.at(-1) ?? "").slice(-12);
    count += parts.length - 1;
    if (count >= expected) resolve();
  });
  socket.once("close", () => resolve());
  await promise;
  return count;
}

async function open(t: TestContext, isEncrypted: boolean): Promise<Scene> {
  const { cert, private: key } = await makeCertificate();
  const pair = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  let gate: Promise<void> | undefined;
  const health = {
    ...createHealth(store),
    serving: async () => {
      await gate;
      return true;
    },
  };
  const app = buildHttpServer({
    service: { store, health, maxDataPerWrite: 1, bulkLimit: 1 },
    admission: { ...admitAll, intake: usualIntake() },
    logger: pino({ level: "silent" }),
    certificate: isEncrypted ? { current: pair, onChange: () => undefined } : undefined,
  });
  let read = 0;
  app.server.on("request", () => (read += 1));
  app.server.on("checkExpectation", () => (read += 1));
  const port = Number(new URL(await app.listen({ host, port: 0 })).port);
  const opened: Socket[] = [];
  t.after(async () => {
    for (const socket of opened) socket.destroy();
    await app.close();
    await store.close();
  });
  return {
    get read() {
      return read;
    },
    open: async () => {
      const socket = isEncrypted ? connectTls({ port, host, ca: cert }) : connect(port, host);
      opened.push(socket);
      socket.on("error", () => undefined);
      await once(socket, isEncrypted ? "secureConnect" : "connect");
      return socket;
    },
    hold: () => {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return () => {
        gate = undefined;
        held.resolve();
      };
    },
  };
}
