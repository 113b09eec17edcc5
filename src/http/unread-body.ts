import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import type { HttpApp } from "./app.ts";

/** How long a client may go on sending what is not read, in milliseconds: in all, and in silence. */
const lingerMs = 30_000;
const silenceMs = 5_000;

/**
 * Lets a client that is still sending read why its request is refused. The framework has the connection
 * closed after such an answer, and what then comes on it resets it: the answer may be lost with it. So
 * the answer ends once its request has, and what is left of that is thrown away.
 */
export function answerThoseWhoSend(app: HttpApp): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const isClosing = reply.getHeader("connection") === "close";
    const isSent = request.raw.complete || request.raw.readableEnded;
    if (!isClosing || isSent || typeof payload !== "string") return payload;
    // With its length said, the answer is whole before it ends.
    reply.header("content-length", Buffer.byteLength(payload));
    return Readable.from(untilSent(payload, request.raw), { objectMode: false });
  });
}

async function* untilSent(payload: string, request: IncomingMessage): AsyncGenerator<string> {
  yield payload;
  if (request.destroyed) return;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const limit = setTimeout(end, lingerMs);
  let silence = setTimeout(end, silenceMs);
  const goOn = (): void => {
    clearTimeout(silence);
    silence = setTimeout(end, silenceMs);
  };
  request.once("end", end).once("close", end).on("data", goOn);
  await ended;
  request.off("data", goOn);
  clearTimeout(limit);
  clearTimeout(silence);
}
