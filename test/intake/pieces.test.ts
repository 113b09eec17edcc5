/** Bodies and messages that come in very small pieces, each of which takes far more memory than its bytes. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";
import fc from "fast-check";

import { must } from "../../src/base/assert.ts";
import { Pieces } from "../../src/grpc/pieces.ts";
import { joinPieces } from "../../src/http/join-pieces.ts";
import { engines } from "../support/engines.ts";
import { check, schema, serve } from "./served.ts";
import { answerOn, callOn, endOf, headOf } from "./wire.ts";

// The transports are the same on all engines.
const memory = must(engines[0], "there is an engine");

function chunkedHead(tenant: string): string {
  return `POST ${tenant}/permissions/check HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
}

test("small pieces are too many beyond the first hundred", () => {
  const pieces = new Pieces();
  for (let nth = 0; nth < 100; nth++) pieces.add(1);
  assert.throws(() => pieces.add(1), /PAYLOAD_TOO_LARGE: request: comes in too many pieces/);
  pieces.reset();
  for (let nth = 0; nth < 10_000; nth++) pieces.add(256);
  pieces.reset();
  const shorter = (): void => {
    for (let nth = 0; nth < 30_000; nth++) pieces.add(255);
  };
  assert.throws(shorter, /too many pieces/);
});

test("a body is read that comes byte by byte", async (t) => {
  const served = await serve(t, memory, {});
  const tenant = await served.app.tenant(schema);
  const text = JSON.stringify({ ...check, filler: "x".repeat(100_000) });
  const ofLength = await served.open();
  ofLength.write(headOf(tenant, text.length, { path: "permissions/check" }));
  for (const byte of text.slice(0, 500)) ofLength.write(byte);
  ofLength.write(text.slice(500));
  assert.match(await answerOn(ofLength), /^HTTP\/1\.1 200 /);
  const inChunks = await served.open();
  const chunks = Array.from(text, (byte) => `1\r\n${byte}\r\n`);
  inChunks.write(`${chunkedHead(tenant)}${chunks.join("")}0\r\n\r\n`);
  assert.match(await answerOn(inChunks), /^HTTP\/1\.1 200 /);
});

test("small pieces of a body are put together, in their order, and large ones are passed on", async () => {
  const pieces = fc.array(fc.oneof(fc.constant(1), fc.nat(300), fc.nat(20_000)), {
    maxLength: 500,
  });
  await fc.assert(
    fc.asyncProperty(pieces, async (lengths) => {
      const sent = lengths.filter((length) => length > 0).map((length) => randomBytes(length));
      const taken: number[] = [];
      const joined = joinPieces(Readable.from(sent), (bytes) => {
        taken.push(bytes);
        return bytes % 2 === 0 ? Promise.resolve() : undefined;
      });
      const read: Buffer[] = await joined.toArray();
      assert.ok(Buffer.concat(read).equals(Buffer.concat(sent)));
      assert.deepEqual(
        taken,
        sent.map(({ length }) => length),
      );
      const small = read.filter(({ length }) => length < 4_096);
      const large = sent.filter(({ length }) => length >= 4_096);
      assert.ok(small.length <= large.length + 1, `${small.length} small pieces were left`);
    }),
    { numRuns: 200 },
  );
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
    assert.match(message, /PAYLOAD_TOO_LARGE: request: comes in too many pieces/);
    call.close();
  });
}
