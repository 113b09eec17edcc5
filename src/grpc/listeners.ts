import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";

import type { Server } from "@grpc/grpc-js";

import { assert } from "../base/assert.ts";

/** The listeners of the library, which has no public access to them. */
export function listenersOf(server: Server): readonly Http2Server[] {
  const servers: unknown = Reflect.get(server, "http2Servers");
  assert(servers instanceof Map, "the server keeps its listeners in a map");
  return [...servers.keys()];
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
      for (const each of before) each.call(listener, stream, headers, ...others);
    });
  }
}
