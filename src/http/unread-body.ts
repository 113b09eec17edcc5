import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import type { FastifyReply } from "fastify";

import { letGo } from "../intake/held.ts";
import { type Intake, largeBytes } from "../intake/intake.ts";
import type { HttpApp } from "./app.ts";
import { announcedBytes } from "./take-in.ts";

/**
 * How long a client may continue to send an unread body, in milliseconds: in total, and without
 * sending anything.
 */
const lingerMs = 30_000;
const silenceMs = 5_000;

/** Has the connection end with a reply when the large body of its request has not all come. */
export function closeUnread(reply: FastifyReply): void {
  const { request } = reply;
  const isChunked = request.headers["transfer-encoding"] !== undefined;
  const isLarge = isChunked || announcedBytes(request) > largeBytes;
  if (isLarge && !request.raw.complete) reply.header("connection", "close");
}

/**
 * Lets a client that is still sending read why its request is refused. Data that arrives on a closed
 * connection resets it, and the answer could be lost. So the answer ends after the request, and the
 * rest of the request is discarded, a little in each round of the loop. The tenant holds nothing
 * meanwhile.
 */
export function answerThoseWhoSend(app: HttpApp, intake: Intake): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    const isClosing = reply.getHeader("connection") === "close";
    const isSent = request.raw.complete || request.raw.readableEnded;
    if (!isClosing || isSent || typeof payload !== "string") {
      done(null, payload);
      return;
    }
    // With a content length, the client has the complete answer before the reply ends.
    reply.header("content-length", Buffer.byteLength(payload));
    done(null, Readable.from(untilSent(payload, reply, intake), { objectMode: false }));
  });
}

async function* untilSent(
  payload: string,
  { request, raw }: FastifyReply,
  intake: Intake,
): AsyncGenerator<string> {
  yield payload;
  letGo(raw);
  const isOver = request.raw.readableEnded || request.raw.destroyed;
  if (!isOver) await discard(request.raw, intake);
}

/** Reads the rest of a request, until its client stops sending or its time is over. */
async function discard(request: IncomingMessage, intake: Intake): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const entry = { tenant: undefined, begin: () => void request.read() };
  const limit = setTimeout(end, lingerMs);
  let silence = setTimeout(end, silenceMs);
  const goOn = (): void => {
    clearTimeout(silence);
    silence = setTimeout(end, silenceMs);
    intake.discards.enter(entry);
  };
  request.unpipe();
  request.pause();
  request.once("end", end).once("close", end).on("readable", goOn);
  await ended;
  request.off("readable", goOn);
  intake.discards.leave(entry);
  clearTimeout(limit);
  clearTimeout(silence);
}
