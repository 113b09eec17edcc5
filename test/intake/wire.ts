/** Requests as bytes, for tests that send some of them and wait. */
import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from "node:http2";
import type { Socket } from "node:net";

import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";

/** The head of a request over REST with a body of that length. */
export function headOf(
  tenant: string,
  length: number,
  { path = "data/write", headers = "" } = {},
): string {
  return `POST ${tenant}/${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n${headers}\r\n`;
}

/** Has the server say when it has counted the head of a request, since its body may come then. */
export const expectContinue = "expect: 100-continue\r\n";

/** What comes on a connection until an answer is whole, or it ends. */
export async function answerOn(socket: Socket): Promise<string> {
  let text = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    if (/\}$|limit`\)/.test(text)) resolve();
  });
  socket.once("close", () => resolve());
  await promise;
  return text;
}

/** Resolves when a connection has ended, with an error or without. */
export async function endingOf(connection: {
  once(event: "close", listener: () => void): unknown;
}): Promise<void> {
  await new Promise<void>((resolve) => connection.once("close", resolve));
}

/** A message as a call carries it. */
export function messageOf<D extends DescMessage>(schema: D, request: MessageInitShape<D>): Buffer {
  const bytes = toBinary(schema, create(schema, request));
  return Buffer.concat([prefixOf(bytes.length), bytes]);
}

/** The beginning of a message of that length, up to its tenant and a little more. */
export function messageHead(tenant: string, length: number): Buffer {
  const begin = Buffer.concat([Buffer.from([0x0a, tenant.length]), Buffer.from(tenant)]);
  return Buffer.concat([prefixOf(length), begin, Buffer.alloc(200)]);
}

/** Behind whether the message is compressed, which it is not. */
function prefixOf(length: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

/** A connection of gRPC that is open on both sides. */
export async function openSession(port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  return session;
}

/** A call whose message has not come. */
export function callOn(
  session: ClientHttp2Session,
  { path = "/base.v1.Data/Write", headers = {} }: CallHead = {},
): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => undefined);
  return stream;
}

export interface CallHead {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a call ended that fails. */
export interface CallEnd {
  readonly status: number;
  readonly message: string;
}

/** How a call ends. */
export async function endOf(stream: ClientHttp2Stream): Promise<CallEnd> {
  const { promise, resolve } = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  stream.once("trailers", resolve);
  // A call that fails before it has answered anything has its status in its only headers.
  stream.once("response", (head) => {
    if (head["grpc-status"] !== undefined) resolve(head);
  });
  stream.resume();
  const { "grpc-status": status, "grpc-message": message = "" } = await promise;
  return { status: Number(status), message: decodeURIComponent(String(message)) };
}
