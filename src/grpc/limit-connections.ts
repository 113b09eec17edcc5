import {
  constants,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";

import type { Server } from "@grpc/grpc-js";

import { connectionAccepted } from "../base/loop-round.ts";
import { connectionKey, Connections } from "../intake/connections.ts";
import type { IntakeLimits } from "../intake/intake.ts";
import { listenersOf } from "./listeners.ts";

const settingsFrame = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const goawayType = 7;
const enhanceYourCalm = 11;

/** How long a client has to read why its connection is refused or ended. */
const lingerMs = 1_000;

/**
 * Limits the connections that are open; to be called when the server listens. One above the limit is
 * ended before anything is read from it, with a GOAWAY frame unless it is encrypted.
 */
export function limitConnections(
  server: Server,
  { connections: max, callsOfConnection }: IntakeLimits,
  isEncrypted: boolean,
): void {
  for (const listener of listenersOf(server)) {
    const connections = new Connections(max);
    limitListener(listener, { connections, max, isEncrypted });
    limitCalls(listener, connections, callsOfConnection);
  }
}

function limitListener(
  listener: Http2Server,
  {
    connections,
    max,
    isEncrypted,
  }: { readonly connections: Connections; readonly max: number; readonly isEncrypted: boolean },
): void {
  const sessions = new Map<string, ServerHttp2Session>();
  const before = listener.listeners("connection");
  const refusal = refusalOf(max);
  listener.removeAllListeners("connection");
  listener.on("connection", (socket: Socket) => {
    connectionAccepted();
    const key = connectionKey(socket);
    const ended = connections.opened(key, () => makeRoom(socket, sessions.get(key)));
    if (ended === undefined) {
      refuse(socket, isEncrypted ? undefined : refusal);
      return;
    }
    socket.once("close", ended);
    for (const each of before) each.call(listener, socket);
  });
  // Connections that are refused are open for a moment, too.
  listener.maxConnections = 2 * max;
  // In a worker, a connection beyond that would be given from one worker to the next without end.
  Object.assign(listener, { dropMaxConnection: true });
  listener.on("session", (session) => {
    const key = connectionKey(session.socket);
    sessions.set(key, session);
    session.once("close", () => {
      if (sessions.get(key) === session) sessions.delete(key);
    });
  });
}

/** The calls that are open on a connection. */
interface OpenCalls {
  count: number;
  /** Of the connection. */
  readonly key: string;
}

/**
 * Counts the calls that are open on each connection. A client learns the limit with its first answer,
 * and may have opened thousands of calls by then: HTTP/2 refuses these as calls that were not begun,
 * which clients make again by themselves.
 */
function limitCalls(listener: Http2Server, connections: Connections, max: number): void {
  const openOn = new WeakMap<Http2Session, OpenCalls>();
  const callsOf = (session: Http2Session): OpenCalls => {
    const known = openOn.get(session);
    if (known !== undefined) return known;
    const calls = { count: 0, key: connectionKey(session.socket) };
    openOn.set(session, calls);
    return calls;
  };
  const before = listener.listeners("stream");
  listener.removeAllListeners("stream");
  listener.on("stream", (stream: ServerHttp2Stream, ...head: readonly unknown[]) => {
    const { session } = stream;
    if (session === undefined) return;
    const calls = callsOf(session);
    if (calls.count >= max) {
      stream.on("error", () => undefined);
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    calls.count += 1;
    const ended = connections.began(calls.key);
    // It comes once, and to remove a listener costs more than to add it.
    stream.on("close", () => {
      calls.count -= 1;
      ended();
    });
    for (const each of before) each.call(listener, stream, ...head);
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
