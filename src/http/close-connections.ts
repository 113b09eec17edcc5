import type { Socket } from "node:net";

import { connectionKey } from "../intake/connection-key.ts";
import type { HttpApp } from "./app.ts";

/**
 * Makes a closing server wait only for requests in progress. A connection closes after its answer.
 * A connection without a request closes at once: Node would treat it as busy, because its first
 * request may be on its way, and would wait for it.
 */
export function closeConnections(app: HttpApp): void {
  let isClosing = false;
  const unused = new Map<string, Socket>();
  app.server.on("connection", (socket: Socket) => {
    const key = connectionKey(socket);
    unused.set(key, socket);
    socket.once("close", () => {
      if (unused.get(key) === socket) unused.delete(key);
    });
  });
  app.server.on("request", ({ socket }) => {
    if (unused.size > 0) unused.delete(connectionKey(socket));
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const socket of unused.values()) socket.destroy();
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (isClosing) reply.header("connection", "close");
    done();
  });
}
