import type { Socket } from "node:net";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";

import { must } from "../../src/base/assert.ts";
import {
  CheckResult,
  PermissionCheckRequestSchema,
  PermissionCheckResponseSchema,
} from "../../src/gen/base/v1/permission_pb.ts";
import { firstTenant } from "../../test/data/ask-store.ts";
import type { Question } from "../../test/data/dataset.ts";
import { keptFor, type LightConnection } from "./light-connection.ts";

const frameTypes = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, away: 7, window: 8 };
const flags = { ack: 1, endStream: 1, endHeaders: 4 };

const frameHeadBytes = 9;
/** In front of each message: whether it is compressed, and its length. */
const prefixBytes = 5;

/** What the client may be sent before it says that it has read something: more than all answers. */
const widestWindow = 2 ** 31 - 1 - 65_535;

/** Names and values that HTTP/2 has numbers for (RFC 7541, appendix A). */
const methodPost = 0x83;
const schemeHttp = 0x86;

/** The first number of the headers that a connection has sent before; the latest one has it. */
const sentBefore = 62;

/** Asks any number of checks at once. `address` is host and port. */
export function askOverGrpc(socket: Socket, address: string): LightConnection {
  const waiting = new Map<number, PromiseWithResolvers<boolean>>();
  const results = new Map<number, boolean>();
  let nextStream = 1;
  let outgoing: Buffer[] = [];
  let rest: Buffer = Buffer.alloc(0);

  // Requests that are made at the same time are sent together.
  const send = (...parts: Buffer[]): void => {
    if (outgoing.length === 0) {
      queueMicrotask(() => {
        socket.write(Buffer.concat(outgoing));
        outgoing = [];
      });
    }
    outgoing.push(...parts);
  };
  const settle = (stream: number): void => {
    const result = results.get(stream);
    if (result === undefined) waiting.get(stream)?.reject(new Error("a call without an answer"));
    else waiting.get(stream)?.resolve(result);
    waiting.delete(stream);
    results.delete(stream);
  };
  const take = ({ type, flag, stream, payload }: Frame): void => {
    if (type === frameTypes.data && payload.length > 0) results.set(stream, resultOf(payload));
    if (type === frameTypes.data || type === frameTypes.headers) {
      if ((flag & flags.endStream) !== 0) settle(stream);
    } else if (type === frameTypes.reset) {
      settle(stream);
    } else if (type === frameTypes.settings || type === frameTypes.ping) {
      const answer = type === frameTypes.ping ? payload : Buffer.alloc(0);
      if ((flag & flags.ack) === 0) send(frameOf(type, flags.ack, 0, answer));
    } else if (type === frameTypes.away) {
      socket.destroy(new Error("the server has sent the client away"));
    }
  };
  socket.on("data", (chunk: Buffer) => {
    let bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let frame = frameIn(bytes); frame !== undefined; frame = frameIn(bytes)) {
      take(frame);
      bytes = bytes.subarray(frameHeadBytes + frame.payload.length);
    }
    rest = bytes;
  });
  socket.on("error", (error) => waiting.forEach(({ reject }) => reject(error)));
  socket.on("close", () => {
    waiting.forEach(({ reject }) => reject(new Error("the connection was closed")));
  });
  send(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frameOf(frameTypes.settings, 0, 0));
  const wide = Buffer.alloc(4);
  wide.writeUInt32BE(widestWindow);
  send(frameOf(frameTypes.window, 0, 0, wide));
  const heads = headersOf(address);
  return {
    ask: async (question) => {
      if (socket.destroyed) throw new Error("the connection was closed");
      const stream = nextStream;
      nextStream += 2;
      const answer = Promise.withResolvers<boolean>();
      waiting.set(stream, answer);
      const head = stream === 1 ? heads.first : heads.later;
      send(
        frameOf(frameTypes.headers, flags.endHeaders, stream, head),
        frameOf(frameTypes.data, flags.endStream, stream, messageOf(question)),
      );
      return await answer.promise;
    },
    close: () => socket.destroy(),
  };
}

interface Frame {
  readonly type: number;
  readonly flag: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** The first frame, if it has come as a whole. */
function frameIn(bytes: Buffer): Frame | undefined {
  if (bytes.length < frameHeadBytes) return undefined;
  const end = frameHeadBytes + bytes.readUIntBE(0, 3);
  if (bytes.length < end) return undefined;
  const payload = bytes.subarray(frameHeadBytes, end);
  return {
    type: bytes.readUInt8(3),
    flag: bytes.readUInt8(4),
    stream: bytes.readUInt32BE(5),
    payload,
  };
}

function frameOf(
  type: number,
  flag: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes + payload.length);
  frame.writeUIntBE(payload.length, 0, 3);
  frame.writeUInt8(type, 3);
  frame.writeUInt8(flag, 4);
  frame.writeUInt32BE(stream, 5);
  payload.copy(frame, frameHeadBytes);
  return frame;
}

/**
 * The headers of a check, as clients send them: in words by the first request of a connection, which has the server
 * remember them, and then by their numbers.
 */
function headersOf(address: string): { readonly first: Buffer; readonly later: Buffer } {
  const named = {
    ":path": "/base.v1.Permission/Check",
    ":authority": address,
    te: "trailers",
    "content-type": "application/grpc",
    "user-agent": "pemba-bench",
    "grpc-accept-encoding": "identity,deflate,gzip",
  };
  const remembered = 0x40;
  const literals = Object.entries(named).flatMap(([name, value]) => [
    Buffer.from([remembered, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
  const indexed = 0x80;
  const numbers = Object.keys(named).map(
    (_, nth, { length }) => indexed + sentBefore + length - 1 - nth,
  );
  const always = [methodPost, schemeHttp];
  return {
    first: Buffer.concat([Buffer.from(always), ...literals]),
    later: Buffer.from([...always, ...numbers]),
  };
}

const messageOf = keptFor(({ entity, permission, user }: Question): Buffer => {
  const subject = { type: "user", id: user };
  const request = { tenantId: firstTenant, entity, permission, subject, metadata: {} };
  const message = toBinary(
    PermissionCheckRequestSchema,
    create(PermissionCheckRequestSchema, request),
  );
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
});

/** Answers of checks are short: each comes in one frame. */
function resultOf(data: Buffer): boolean {
  const length = data.readUInt32BE(1);
  const message = data.subarray(prefixBytes);
  must(message.length === length || undefined, "an answer comes in one frame");
  return fromBinary(PermissionCheckResponseSchema, message).can === CheckResult.ALLOWED;
}
