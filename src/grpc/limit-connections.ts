import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";

import type { Server } from "@grpc/grpc-js";

import { connectionKey, Connections } from "../intake/connections.ts";
import type { Intake } from "../intake/intake.ts";
import { limitSockets } from "../intake/limit-sockets.ts";
import { limitCalls } from "./limit-calls.ts";
import { listenersOf } from "./listeners.ts";
import type { UncountedCalls } from "./uncounted-calls.ts";

const settingsFrame = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const goawayType = 7;
const enhanceYourCalm = 11;

/** How long a client has to read why its connection is refused or ended. */
const lingerMs = 1_000;

/**
 * Limits the connections that are open, and the calls on them; to be called when the server listens. A connection
 * above the limit is ended before anything is read from it, with a GOAWAY frame unless it is encrypted.
 */
export function limitConnections(
  server: Server,
  {
    intake,
    uncounted,
    isEncrypted,
  }: {
    readonly intake: Intake;
    readonly uncounted: UncountedCalls;
    readonly isEncrypted: boolean;
  },
): void {
  const { connections: max } = intake.limits;
  for (const listener of listenersOf(server)) {
    const connections = new Connections(max);
    limitListener(listener, connections, isEncrypted);
    limitCalls(listener, { connections, intake, uncounted });
  }
}

function limitListener(
  listener: Http2Server,
  connections: Connections,
  isEncrypted: boolean,
): void {
  const sessions = new Map<string, ServerHttp2Session>();
  const refusal = isEncrypted ? undefined : refusalOf(connections.max);
  limitSockets(listener, connections, {
    makeRoom: (socket) => makeRoom(socket, sessions.get(connectionKey(socket))),
    refuse: (socket) => refuse(socket, refusal),
  });
  listener.on("session", (session) => {
    const key = connectionKey(session.socket);
    sessions.set(key, session);
    session.once("close", () => {
      if (sessions.get(key) === session) sessions.delete(key);
    });
  });
}

/** Ends an idle connection, with a GOAWAY frame when it has a session, even if its client does not read. */
function makeRoom(socket: Socket, session: ServerHttp2Session | undefined): void {
  if (session === undefined) {
    socket.destroy();
    return;
  }
  session.close();
  destroyLater(socket);
}

function refuse(socket: Socket, refusal: Buffer | undefined): void {
  if (refusal === undefined) {
    socket.destroy();
    return;
  }
  socket.on("error", () => socket.destroy());
  socket.end(refusal);
  socket.resume();
  destroyLater(socket);
}

/** Not when it is silent: a client that goes on sending would stay. */
function destroyLater(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

/** The frames for a connection that is refused: SETTINGS, with which a server begins, and GOAWAY. */
function refusalOf(max: number): Buffer {
  const reason = Buffer.from(`${max} connections are open (\`server.connection_limit\`)`);
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(enhanceYourCalm, 4);
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length + reason.length, 0, 3);
  head.writeUInt8(goawayType, 3);
  return Buffer.concat([settingsFrame, head, payload, reason]);
}
