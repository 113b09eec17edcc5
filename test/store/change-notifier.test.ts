import assert from "node:assert/strict";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { Listener } from "../../src/store/postgres/watch/change-notifier.ts";
import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";

const retryMs = 30_000;

interface ListenerPlace {
  readonly url: string;
  /** The file of trusted certificates is taken away, as while it is replaced, and put back. */
  readonly takeFile: () => void;
  readonly putFile: () => void;
  /** Hangs up on each client. */
  readonly server: Server;
}

async function openPlace(t: TestContext): Promise<ListenerPlace> {
  const { cert } = certificateFolder(t, await makeCertificate());
  const server = createServer((socket) => void socket.destroy()).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = addressOf(server);
  return {
    url: `postgres://me@127.0.0.1:${port}/db?sslmode=verify-ca&sslrootcert=${cert}`,
    takeFile: () => renameSync(cert, `${cert}.away`),
    putFile: () => renameSync(`${cert}.away`, cert),
    server,
  };
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return address;
}

/** Lets the clock go on, by so many milliseconds in each round of the loop, until the work is done. */
async function passUntilDone(t: TestContext, ms: number, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = work.then(() => (isDone = true));
  while (!isDone) {
    t.mock.timers.tick(ms);
    await nextRound();
  }
  await done;
}

/** Closes it while no clock goes by itself. */
async function close(t: TestContext, listener: Listener): Promise<void> {
  await passUntilDone(t, 1_000, listener.close());
}

test("a listener that finds no trusted certificates listens once they are there", async (t) => {
  const { url, takeFile, putFile, server } = await openPlace(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const listener = new Listener(url, () => {});
  takeFile();
  listener.start();
  t.mock.timers.tick(retryMs);
  t.mock.timers.tick(retryMs);
  putFile();
  const connected = once(server, "connection");
  t.mock.timers.tick(retryMs);
  await passUntilDone(t, 1, connected);
  await close(t, listener);
});

test("a listener whose certificates are taken away between two attempts goes on", async (t) => {
  const { url, takeFile, putFile, server } = await openPlace(t);
  const { port } = addressOf(server);
  server.close();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const listener = new Listener(url, () => {});
  listener.start();
  takeFile();
  // The first attempt is refused, and those after it find no file.
  for (let round = 0; round < 200; round++) {
    t.mock.timers.tick(round < 100 ? 1 : retryMs);
    await nextRound();
  }
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  putFile();
  const connected = once(server, "connection");
  t.mock.timers.tick(retryMs);
  await passUntilDone(t, 1, connected);
  await close(t, listener);
});
