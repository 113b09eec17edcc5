import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { PembaError } from "../base/error.ts";
import { connectionAccepted } from "../base/loop-round.ts";
import { connectionKey, Connections } from "../intake/connections.ts";
import type { Intake } from "../intake/intake.ts";
import type { HttpApp } from "./app.ts";
import { holdFor } from "./held.ts";
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
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    connectionAccepted();
    const ended = connections.opened(connectionKey(socket), () => socket.destroy());
    if (ended === undefined) {
      refuse(socket, max, isEncrypted);
      return;
    }
    socket.once("close", ended);
    for (const listener of listeners) listener.call(server, socket);
  });
  // Connections that are refused are open for a moment, too.
  server.maxConnections = 2 * max;
  // In a worker, a connection beyond that would be given from one worker to the next without end.
  Object.assign(server, { dropMaxConnection: true });
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
