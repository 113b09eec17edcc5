import type { Server, Socket } from "node:net";

import { connectionAccepted } from "../base/loop-round.ts";
import { connectionKey, type Connections } from "./connections.ts";

/**
 * Limits the connections of a listener that are open. `makeRoom` ends one that is idle. `refuse` is given one for which
 * there is no room, before anything is read from it.
 */
export function limitSockets(
  listener: Server,
  connections: Connections,
  {
    makeRoom,
    refuse,
  }: {
    readonly makeRoom: (socket: Socket) => void;
    readonly refuse: (socket: Socket) => void;
  },
): void {
  const before = listener.listeners("connection");
  listener.removeAllListeners("connection");
  listener.on("connection", (socket: Socket) => {
    connectionAccepted();
    const ended = connections.opened(connectionKey(socket), () => makeRoom(socket));
    if (ended === undefined) {
      refuse(socket);
      return;
    }
    socket.once("close", ended);
    for (const each of before) each.call(listener, socket);
  });
  // Connections that are refused are open for a moment, too.
  listener.maxConnections = 2 * connections.max;
  // In a worker, a connection beyond that would be given from one worker to the next without end.
  Object.assign(listener, { dropMaxConnection: true });
}
