import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";

import type { Server } from "@grpc/grpc-js";

import { assert } from "../base/assert.ts";
import { parseTimeout } from "../base/grpc-timeout.ts";
import { timerMs } from "../base/pause.ts";

/** The listeners of the library, which has no public access to them. */
export function listenersOf(server: Server): readonly Http2Server[] {
  const servers: unknown = Reflect.get(server, "http2Servers");
  assert(servers instanceof Map, "the server keeps its listeners in a map");
  return [...servers.keys()];
}

/**
 * Closes a connection whose client has broken its encryption off. Node ends the session alone, and waits for what is
 * being written, which never goes out: the connection would stay for ever. To be called when the server listens.
 */
export function closeBroken(server: Server): void {
  for (const listener of listenersOf(server)) {
    listener.on("secureConnection", (socket: TLSSocket) => {
      socket.on("error", () => socket.destroy());
    });
  }
}

/** Gives each call to `take` first, which returns whether it took it. To be called when the server listens. */
export function takeCalls(
  server: Server,
  take: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean,
): void {
  for (const listener of listenersOf(server)) {
    const before = listener.listeners("stream");
    listener.removeAllListeners("stream");
    listener.on("stream", (stream, headers, ...others) => {
      if (take(stream, headers)) return;
      const readable = withReadableTimeout(headers);
      for (const each of before) each.call(listener, stream, readable, ...others);
    });
  }
}

const timeoutHeader = "grpc-timeout";

/** In seconds: the longest time that a timer can wait. */
const timeoutMaxS = Math.floor(timerMs(Infinity) / 1_000);

/**
 * Has the library read a timeout as it is meant. It ends a call at once if the time is longer than a timer can
 * wait, and it finds a time inside of other texts, which it refuses if no digit is left in them.
 */
function withReadableTimeout(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const timeout = headers[timeoutHeader];
  if (timeout === undefined) return headers;
  const timeoutMs = parseTimeout(String(timeout));
  if (timeoutMs === undefined) {
    return { ...headers, [timeoutHeader]: String(timeout).replaceAll(/\d/g, "?") };
  }
  if (timeoutMs <= timeoutMaxS * 1_000) return headers;
  return { ...headers, [timeoutHeader]: `${timeoutMaxS}S` };
}
