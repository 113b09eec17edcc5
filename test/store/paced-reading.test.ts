import assert from "node:assert/strict";
import { once } from "node:events";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { readInSlices } from "../../src/store/postgres/connect/paced-reading.ts";

const long = Buffer.alloc(65_536);
const encrypted = Buffer.alloc(8_192);
const short = Buffer.alloc(1_000);

/** What arrives at it is what is emitted. */
function openSocket(): Duplex {
  const socket = new Duplex({ read: () => {} });
  readInSlices(socket);
  socket.resume();
  return socket;
}

/** As long as its time slice lasts. */
function readUntilPaused(socket: Duplex): void {
  const end = performance.now() + 60_000;
  while (!socket.isPaused()) {
    assert.ok(performance.now() < end, "it is never paused");
    socket.emit("data", long);
  }
}

test("sockets that read much in a round of the loop share a time slice, and go on in turn", async () => {
  const [first, second] = [openSocket(), openSocket()];
  await nextRound();
  readUntilPaused(first);
  second.emit("data", long);
  assert.ok(second.isPaused());
  const turns: string[] = [];
  const resumed = [first, second].map(async (socket, nth) => {
    await once(socket, "resume");
    turns.push(`${nth} ${second.isPaused()}`);
  });
  await Promise.all(resumed);
  assert.deepEqual(turns, ["0 true", "1 false"]);
});

test("what comes in many chunks of a round counts together", async () => {
  const [first, other] = [openSocket(), openSocket()];
  await nextRound();
  readUntilPaused(first);
  // As TLS has them.
  for (let chunk = 0; chunk < 3; chunk++) other.emit("data", encrypted);
  assert.ok(!other.isPaused());
  other.emit("data", encrypted);
  assert.ok(other.isPaused());
});

test("what comes in many rounds does not count together", async () => {
  const socket = openSocket();
  for (let round = 0; round < 10; round++) {
    await nextRound();
    const other = openSocket();
    readUntilPaused(other);
    socket.emit("data", encrypted);
    assert.ok(!socket.isPaused());
    await once(other, "resume");
  }
});

test("a socket with small answers is never paused", async () => {
  const [first, other] = [openSocket(), openSocket()];
  await nextRound();
  readUntilPaused(first);
  other.emit("data", short);
  assert.ok(!other.isPaused());
});
