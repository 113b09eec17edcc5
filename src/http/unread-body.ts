import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import type { HttpApp } from "./app.ts";

/**
 * How long a client may continue to send an unread body, in milliseconds: in total, and without
 * sending anything.
 */
const lingerMs = 30_000;
const silenceMs = 5_000;

/**
 * Lets a client that is still sending read why its request is refused. The framework closes the
 * connection after such an answer. Data that then arrives would reset the connection, and the
 * answer could be lost. So the answer ends after the request, and the rest of the request is
 * discarded.
 */
export function answerThoseWhoSend(app: HttpApp): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const isClosing = reply.getHeader("connection") === "close";
    const isSent = request.raw.complete || request.raw.readableEnded;
    if (!isClosing || isSent || typeof payload !== "string") return payload;
    // With a content length, the client has the complete answer before the reply ends.
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
