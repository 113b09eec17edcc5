import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";

import { Listener } from "../../src/store/postgres/watch/change-notifier.ts";
import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";

/** A server that does so with each client. Resolves to its port. */
async function serve(
  t: TestContext,
  onClient: (socket: Socket) => void,
): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(onClient).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return { server, port: addressOf(server).port };
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return address;
}

test("a listener that finds no trusted certificates listens once they are there", async (t) => {
  const { cert } = certificateFolder(t, await makeCertificate());
  const { server, port } = await serve(t, (socket) => void socket.destroy());
  const url = `postgres://me@127.0.0.1:${port}/db?sslmode=verify-ca&sslrootcert=${cert}`;
  const listener = new Listener(url, () => {});
  t.after(async () => await listener.close());
  renameSync(cert, `${cert}.away`);
  // The file is read at once.
  listener.start();
  renameSync(`${cert}.away`, cert);
  await once(server, "connection");
});

/** What a proxy does with a client while the server behind it is away. */
const refusals: Readonly<Record<string, (socket: Socket) => void>> = {
  "closes connections": (socket) => void socket.end(),
  "closes connections once they say something": (socket) =>
    void socket.once("data", () => socket.end()),
  "resets connections": (socket) => void socket.resetAndDestroy(),
};

/** No pause is shorter, of those after the first attempts. */
const pauseMinMs = 100;

for (const [what, refuse] of Object.entries(refusals)) {
  for (const hosts of ["one host", "two hosts"]) {
    test(`a listener rests between its attempts while a proxy ${what}, with ${hosts}`, async (t) => {
      const attempts: number[] = [];
      const { promise: tried, resolve } = Promise.withResolvers<void>();
      const { port } = await serve(t, (socket) => {
        socket.on("error", () => {});
        refuse(socket);
        if (attempts.push(performance.now()) === 3) resolve();
      });
      // Nothing listens at the first one.
      const first = hosts === "one host" ? "" : "127.0.0.1:1,";
      const listener = new Listener(`postgres://me@${first}127.0.0.1:${port}/db`, () => {});
      t.after(async () => await listener.close());
      listener.start();
      await tried;
      const pauses = attempts.slice(1).map((at, index) => at - (attempts[index] ?? at));
      assert.ok(Math.min(...pauses) >= pauseMinMs, String(pauses));
    });
  }
}

test("a listener that is closed ends its connection, also while that is being made", async (t) => {
  const { port } = await serve(t, (socket) => void socket.on("error", () => {}).resume());
  const listener = new Listener(`postgres://me@127.0.0.1:${port}/db`, () => {});
  listener.start();
  await listener.close();
  const other = new Listener(`postgres://me@127.0.0.1:${port}/db`, () => {});
  await other.close();
});
