import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { PembaError } from "../base/error.ts";
import { connectionKey, Connections } from "../intake/connections.ts";
import { holdFor } from "../intake/held.ts";
import type { Intake } from "../intake/intake.ts";
import { limitSockets } from "../intake/limit-sockets.ts";
import type { HttpApp } from "./app.ts";
import { refuseConnection } from "./refused-by-node.ts";
import { tenantOfPath } from "./tenant-of-path.ts";

/**
 * Limits the connections that are open, and lets a few requests begin at a time. A connection above the
 * limit is ended before anything is read from it, with 429 unless it is encrypted.
 */
export function limitConnections(app: HttpApp, intake: Intake, isEncrypted: boolean): void {
  const { server } = app;
  const max = intake.limits.connections;
  const connections = new Connections(max);
  limitSockets(server, connections, {
    makeRoom: (socket) => socket.destroy(),
    refuse: (socket) => refuse(socket, max, isEncrypted),
  });
  const handlers = server.listeners("request");
  server.removeAllListeners("request");
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const tenant = tenantOfPath(request.url);
    const ended = connections.began(connectionKey(request.socket), tenant);
    const begin = (): void =>
      handlers.forEach((handler) => handler.call(server, request, response));
    const entry = { tenant, begin };
    holdFor(response, () => {
      ended();
      intake.arrivals.leave(entry);
    });
    intake.arrivals.enter(entry);
  });
}

function refuse(socket: Socket, max: number, isEncrypted: boolean): void {
  if (isEncrypted) {
    socket.destroy();
    return;
  }
  const message = `${max} connections are open (\`server.connection_limit\`), retry in a second`;
  refuseConnection(socket, new PembaError("CONCURRENCY_LIMIT_EXCEEDED", message));
}
