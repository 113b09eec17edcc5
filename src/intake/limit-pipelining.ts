import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { assert } from "../base/assert.ts";
import { holdFor } from "./held.ts";

/** So many requests may wait for the answer before theirs until nothing more is read from their connection. */
const mostWaiting = 100;

/** What was read at once is parsed to its end. With more requests than that, the connection is closed. */
const mostInAll = 500;

/** The requests of a connection that wait for the answer before theirs. */
interface Pipeline {
  readonly waiting: Set<ServerResponse>;
  /** Lets the connection be read again; undefined while it is read. */
  goOn: (() => void) | undefined;
}

/**
 * Limits the requests that a client sends ahead on one connection. Node parses all that it has read in one
 * go, and takes time for each request that is left when the connection ends: thousands would hold up
 * the loop. The server has to answer `connect` and `checkExpectation` itself, since they are listened for here.
 */
export function limitPipelining(server: Server, isEncrypted: boolean): void {
  const pipelines = new WeakMap<Socket, Pipeline>();
  const add = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    // It waits for nothing, as nearly all do.
    if (response.socket !== null) return;
    let pipeline = pipelines.get(socket);
    if (pipeline === undefined) {
      pipeline = { waiting: new Set(), goOn: undefined };
      pipelines.set(socket, pipeline);
    }
    wait(pipeline, socket, response);
  };
  server.on("request", add);
  // These never become requests.
  server.on("checkExpectation", add);
  server.on("connect", ({ socket }) => {
    // Node leaves such a connection to its listener, and would never end these.
    for (const response of pipelines.get(socket)?.waiting ?? []) response.destroy();
  });
  if (isEncrypted) server.on("secureConnection", readAsStream);
}

function wait(pipeline: Pipeline, socket: Socket, response: ServerResponse): void {
  const { waiting } = pipeline;
  waiting.add(response);
  holdFor(response, () => {
    waiting.delete(response);
    if (waiting.size > mostWaiting / 2) return;
    pipeline.goOn?.();
    pipeline.goOn = undefined;
  });
  if (waiting.size > mostInAll) cut(socket);
  else if (waiting.size >= mostWaiting) pipeline.goOn ??= pause(response);
}

/**
 * Pauses the connection of a response, and returns what lets it be read again. A socket that is only paused
 * is resumed by the next request in what was read. So Node is told that too much waits to be sent.
 */
function pause(response: ServerResponse): () => void {
  const addToQueue: unknown = Reflect.get(response, "_onPendingData");
  assert(typeof addToQueue === "function", "an answer counts what waits to be sent");
  const tooMuch = response.req.socket.writableHighWaterMark + 1;
  Reflect.apply(addToQueue, response, [tooMuch]);
  return () => void Reflect.apply(addToQueue, response, [-tooMuch]);
}

/** What the parser is answered for a head behind which it is to stop. */
const stop = 2;

/** Closes a connection, and parses nothing more of what was read from it. */
function cut(socket: Socket): void {
  socket.destroy();
  const parser: unknown = Reflect.get(socket, "parser");
  assert(typeof parser === "object" && parser !== null, "a connection has its parser");
  Reflect.set(parser, "onIncoming", () => stop);
}

/**
 * Has the socket pass on what it reads, instead of its parser taking it directly. The records of an encrypted
 * connection that come together would go on to a parser that is paused, for which that is an error.
 */
function readAsStream(socket: Socket): void {
  socket.on("data", () => undefined);
}
