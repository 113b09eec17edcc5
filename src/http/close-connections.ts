import type { Socket } from "node:net";

import type { HttpApp } from "./app.ts";

/**
 * Lets nothing delay the end of a server but the requests that are under way: a connection ends with
 * its answer, and one that was opened in advance ends at once. Node takes such a one for busy, since
 * its first request may be coming, and would wait for that as long as for any request.
 */
export function closeConnections(app: HttpApp): void {
  let isClosing = false;
  const unused = new Map<string, Socket>();
  app.server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    unused.set(peer, socket);
    socket.once("close", () => {
      if (unused.get(peer) === socket) unused.delete(peer);
    });
  });
  app.server.on("request", ({ socket }) => {
    if (unused.size > 0) unused.delete(peerOf(socket));
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

/** The same for a connection and for what is encrypted on it, which are two sockets. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
