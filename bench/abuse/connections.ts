import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";

import type { AbuseTarget } from "./requests.ts";

/** Opens a connection to the port of REST; rejects when it is refused. */
export async function openRest({ url }: AbuseTarget): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  socket.on("error", () => undefined);
  return socket;
}

/**
 * What becomes of a request that is written to the connection: its status with the key or the code of
 * a refusal, or that the connection has ended.
 */
export async function answerOf(socket: Socket, request: Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const take = (chunk: Buffer): void => {
    text += chunk.toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    if (head === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
    if (text.length >= head + 4 + length) resolve(outcomeOf(text));
  };
  const end = (): void => resolve("the connection ended");
  socket.on("data", take);
  socket.once("close", end);
  try {
    if (socket.destroyed) return "the connection ended";
    socket.write(request);
    return await promise;
  } finally {
    socket.off("data", take);
    socket.off("close", end);
  }
}

function outcomeOf(text: string): string {
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? "no status";
  return status === "200" ? status : `${status} ${reasonIn(text)}`;
}

/** The key that a refusal names, else its code. */
export function reasonIn(text: string): string {
  return /[a-z_]+(?:\.[a-z_]+)+(?=`)/.exec(text)?.[0] ?? /ERROR_CODE_(\w+)/.exec(text)?.[1] ?? "";
}

/** Opens a session to the port of gRPC; rejects when it is refused. */
export async function openGrpc({ grpc }: AbuseTarget): Promise<ClientHttp2Session> {
  const session = connectHttp2(`http://${grpc}`);
  // Before, it does not know how much may be asked at once.
  await once(session, "remoteSettings");
  session.on("error", () => undefined);
  return session;
}

/** What becomes of a call: its status, with the key of a refusal. */
export async function statusOf(
  session: ClientHttp2Session,
  path: string,
  message: Buffer,
): Promise<string> {
  if (session.destroyed || session.closed) return "the connection ended";
  const { promise, resolve } = Promise.withResolvers<string>();
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const take = (headers: IncomingHttpHeaders): void => {
    const status = textOf(headers["grpc-status"]);
    if (status === "") return;
    const text = decodeURIComponent(textOf(headers["grpc-message"]));
    resolve(status === "0" ? "OK" : `status ${status} ${reasonIn(text)}`);
  };
  stream.on("response", take);
  stream.on("trailers", take);
  stream.on("error", () => undefined);
  stream.once("close", () => resolve("the stream ended"));
  stream.resume();
  stream.end(message);
  return await promise;
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === "string" ? header : (header?.[0] ?? "");
}
