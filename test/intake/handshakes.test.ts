/** How many encrypted connections an instance keeps, with those whose handshake has not ended. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { connect as connectTls, type TLSSocket } from "node:tls";

import { pino } from "pino";

import { buildGrpcServer } from "../../src/grpc/server.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";
import { makeCertificate } from "../support/certificate-files.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { answerOn, callOn, endingOf, expectContinue, headOf } from "./wire.ts";

const host = "127.0.0.1";

interface Scene {
  readonly ca: string;
  readonly http: number;
  readonly grpc: number;
}

/** Both listeners with a certificate, and two connections each. */
async function open(t: TestContext): Promise<Scene> {
  const { cert, private: key } = await makeCertificate();
  const pair = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const certificate = { current: pair, onChange: () => undefined };
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  const admission = { ...admitAll, intake: usualIntake({ connections: 2 }) };
  const options = { service, admission, logger: pino({ level: "silent" }), certificate };
  const app = buildHttpServer(options);
  const url = await app.listen({ host, port: 0 });
  const server = buildGrpcServer(options);
  const grpc = await server.listen({ host, port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
    server.cut();
    await store.close();
  });
  return { ca: cert, http: Number(new URL(url).port), grpc };
}

/** A connection that never begins its handshake; its end can be seen. */
async function openSilent(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, host).resume();
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

async function openRest(t: TestContext, { http, ca }: Scene): Promise<TLSSocket> {
  const socket = connectTls({ port: http, host, ca });
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  return socket;
}

async function openGrpc(t: TestContext, { grpc, ca }: Scene): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://${host}:${grpc}`, { ca });
  t.after(() => session.destroy());
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  return session;
}

async function askRest(socket: TLSSocket): Promise<void> {
  const answer = answerOn(socket);
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  assert.match(await answer, /^HTTP\/1\.1 200 /);
}

const emptyMessage = Buffer.alloc(5);

/** A stream of health, which goes on after its first answer. */
async function watchHealth(session: ClientHttp2Session): Promise<void> {
  const call = callOn(session, { path: "/grpc.health.v1.Health/Watch" });
  call.end(emptyMessage);
  await once(call, "data");
}

test("a connection of REST whose handshake has not ended makes room", async (t) => {
  const scene = await open(t);
  const silent = [await openSilent(t, scene.http), await openSilent(t, scene.http)];
  const closed = silent.map(endingOf);
  for (const end of closed) {
    await askRest(await openRest(t, scene));
    await end;
  }
});

test("a connection of gRPC whose handshake has not ended makes room", async (t) => {
  const scene = await open(t);
  const silent = [await openSilent(t, scene.grpc), await openSilent(t, scene.grpc)];
  const closed = silent.map(endingOf);
  for (const end of closed) {
    await watchHealth(await openGrpc(t, scene));
    await end;
  }
});

test("an encrypted connection of REST with a request under way does not make room", async (t) => {
  const scene = await open(t);
  const busy = await openRest(t, scene);
  busy.write(headOf("/v1/tenants/t1", 2, { path: "schemas/list", headers: expectContinue }));
  await once(busy, "data");
  const idle = await openRest(t, scene);
  const closed = endingOf(idle);
  await askRest(await openRest(t, scene));
  await closed;
  const answer = answerOn(busy);
  busy.write("{}");
  assert.match(await answer, /^HTTP\/1\.1 200 /);
});

test("an encrypted connection of gRPC with a call under way does not make room", async (t) => {
  const scene = await open(t);
  const busy = await openGrpc(t, scene);
  await watchHealth(busy);
  const idle = await openGrpc(t, scene);
  const closed = endingOf(idle);
  await watchHealth(await openGrpc(t, scene));
  await closed;
  await watchHealth(busy);
});

/** A line to a port, and what has it pass on nothing but noise to the client. */
async function openLine(
  t: TestContext,
  to: number,
): Promise<{
  readonly port: number;
  readonly breakIt: () => void;
  readonly closed: Promise<void>;
}> {
  const far = connect(to, host).on("error", () => undefined);
  let isBroken = false;
  const line = createServer((near) => {
    near.on("error", () => undefined);
    near.pipe(far).on("data", (chunk: Buffer) => {
      near.write(isBroken ? Buffer.alloc(chunk.length, "?") : chunk);
    });
  });
  line.listen(0, host);
  await once(line, "listening");
  t.after(() => {
    far.destroy();
    line.close();
  });
  const breakIt = (): void => {
    isBroken = true;
  };
  return { port: (line.address() as AddressInfo).port, breakIt, closed: endingOf(far) };
}

// The client says that it cannot read what comes, while more is sent to it.
test("a connection of REST whose encryption breaks is closed", { timeout: 20_000 }, async (t) => {
  const scene = await open(t);
  const { port, breakIt, closed } = await openLine(t, scene.http);
  const socket = await openRest(t, { ...scene, http: port });
  await askRest(socket);
  breakIt();
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".repeat(20));
  await closed;
});

test("a connection of gRPC whose encryption breaks is closed", { timeout: 20_000 }, async (t) => {
  const scene = await open(t);
  const { port, breakIt, closed } = await openLine(t, scene.grpc);
  const session = await openGrpc(t, { ...scene, grpc: port });
  breakIt();
  for (let calls = 0; calls < 20; calls++) {
    const call = callOn(session, { path: "/grpc.health.v1.Health/Watch" });
    call.on("error", () => undefined).end(emptyMessage);
  }
  await closed;
});
