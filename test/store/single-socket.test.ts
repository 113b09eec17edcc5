import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { TLSSocket } from "node:tls";

import { SingleSocket } from "../../src/store/postgres/connect/single-socket.ts";
import { makeCertificate } from "../support/certificate-files.ts";

type ServerSocket = (socket: Socket) => void;

/** The address of a server that answers each client so, as the driver names it. */
async function serve(t: TestContext, onClient: ServerSocket) {
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket);
    socket.on("error", () => {});
    onClient(socket);
  }).listen(0, "127.0.0.1");
  t.after(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  await once(server, "listening");
  const address = server.address();
  assert.ok(isInet(address));
  return { host: ["127.0.0.1"], port: [address.port], path: false, sslnegotiation: null } as const;
}

function isInet(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

/** Does work that takes longer than a time slice. */
function workLong(): void {
  const end = performance.now() + 6;
  while (performance.now() < end);
}

test("what comes over TLS is read in turns", async (t) => {
  const { cert, private: key } = await makeCertificate();
  const records = 200;
  // As Postgres encrypts an answer: 8 KiB at a time.
  const record = Buffer.alloc(8_192);
  const address = await serve(t, (raw) => {
    raw.once("data", () => {
      raw.write("S");
      const socket = new TLSSocket(raw, { isServer: true, cert, key });
      socket.on("error", () => {});
      socket.once("data", () => {
        for (let nth = 0; nth < records; nth++) socket.write(record);
      });
    });
  });
  const socket = await new SingleSocket(10_000, "require").socket(address);
  t.after(() => socket.destroy());
  let pauses = 0;
  let bytes = 0;
  socket.on("pause", () => (pauses += 1));
  const { promise: all, resolve } = Promise.withResolvers<void>();
  socket.on("data", ({ length }: Buffer) => {
    if (bytes < 20 * record.length) workLong();
    bytes += length;
    if (bytes === records * record.length) resolve();
  });
  socket.write("go");
  await all;
  assert.ok(pauses > 0);
});

test("a server that says more than whether it encrypts is not believed", async (t) => {
  const address = await serve(t, (socket) => socket.once("data", () => socket.write("SR")));
  const sockets = new SingleSocket(10_000, "require");
  await assert.rejects(sockets.socket(address), { code: "CONNECTION_CLOSED" });
});

test("a server that does not encrypt is used where it need not", async (t) => {
  const address = await serve(t, (socket) => socket.once("data", () => socket.write("N")));
  const refused = new SingleSocket(10_000, "require").socket(address);
  await assert.rejects(refused, { code: "CONNECTION_CLOSED", message: /does not encrypt/ });
  const socket = await new SingleSocket(10_000, "prefer").socket(address);
  t.after(() => socket.destroy());
  assert.ok(!(socket instanceof TLSSocket));
});

test("a server that says nothing to the wish for TLS, or in it, is given up in time", async (t) => {
  const silent = await serve(t, () => {});
  const hanging = await serve(t, (socket) => socket.once("data", () => socket.write("S")));
  for (const address of [silent, hanging]) {
    const socket = new SingleSocket(50, "require").socket(address);
    await assert.rejects(socket, { code: "CONNECT_TIMEOUT" });
  }
});

test("a server that hangs up at the wish for TLS fails the connection", async (t) => {
  const address = await serve(t, (socket) => socket.once("data", () => socket.end()));
  const socket = new SingleSocket(10_000, "require").socket(address);
  await assert.rejects(socket, { code: "CONNECTION_CLOSED" });
});
