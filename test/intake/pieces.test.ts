/** Bodies and messages that come in very small pieces, each of which takes far more memory than its bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";

import { must } from "../../src/base/assert.ts";
import { Pieces } from "../../src/intake/pieces.ts";
import { engines } from "../support/engines.ts";
import { check, schema, serve } from "./served.ts";
import { answerOn, callOn, endingOf, endOf, expectContinue, headOf } from "./wire.ts";

// The transports are the same on all engines.
const memory = must(engines[0], "there is an engine");

function chunkedHead(tenant: string): string {
  return `POST ${tenant}/permissions/check HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
}

test("small pieces are too many beyond the first hundred", () => {
  const pieces = new Pieces();
  for (let nth = 0; nth < 100; nth++) pieces.add(1);
  assert.throws(() => pieces.add(1), /PAYLOAD_TOO_LARGE: body: comes in too many pieces/);
  pieces.reset();
  for (let nth = 0; nth < 10_000; nth++) pieces.add(256);
});

for (const [kind, head] of [
  ["of a length that is not announced", chunkedHead],
  [
    "of a known length",
    (tenant: string) =>
      headOf(tenant, 4_000, { path: "permissions/check", headers: expectContinue }),
  ],
] as const) {
  test(`a connection ends whose body ${kind} comes in too many pieces`, async (t) => {
    const served = await serve(t, memory, {});
    const tenant = await served.app.tenant(schema);
    const socket = await served.open();
    socket.setNoDelay();
    const ended = endingOf(socket);
    socket.write(head(tenant));
    const piece = head === chunkedHead ? "1\r\n \r\n" : " ";
    const send = (): void => {
      if (!socket.destroyed) socket.write(piece, () => setImmediate(send));
    };
    send();
    await ended;
  });
}

test("a body is read that comes in a few small pieces", async (t) => {
  const served = await serve(t, memory, {});
  const tenant = await served.app.tenant(schema);
  const text = JSON.stringify({ ...check, filler: "x".repeat(100_000) });
  const pieces = [...Array.from(text.slice(0, 50)), text.slice(50), ""];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  const socket = await served.open();
  socket.write(`${chunkedHead(tenant)}${chunks.join("")}`);
  assert.match(await answerOn(socket), /^HTTP\/1\.1 200 /);
});

for (const [kind, headers] of [
  ["a message", {}],
  ["a compressed message", { "grpc-encoding": "gzip" }],
] as const) {
  test(`${kind} that comes in too many pieces is refused, also without a token`, async (t) => {
    const served = await serve(t, memory, {});
    const session = await served.openSession();
    const call = callOn(session, { path: "/grpc.health.v1.Health/Check", headers });
    const prefix = Buffer.from([kind === "a message" ? 0 : 1, 0, 0x10, 0, 0]);
    call.write(prefix);
    const end = endOf(call);
    const send = (): void => {
      if (!call.destroyed && !call.writableEnded)
        call.write(Buffer.alloc(1), () => setImmediate(send));
    };
    send();
    const { status: code, message } = await end;
    assert.equal(code, status.RESOURCE_EXHAUSTED);
    assert.match(message, /PAYLOAD_TOO_LARGE: body: comes in too many pieces/);
    call.close();
  });
}
