import { assert } from "../base/assert.ts";
import type { TenantId } from "../base/tuple.ts";
import { type Intake, largeBytes } from "../intake/intake.ts";
import { requestLimit } from "./message.ts";

/** The stream of HTTP/2 that carries the messages of a call; it ends with the call. */
export interface CallStream {
  readonly destroyed: boolean;
  prependListener(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
  once(event: "close", listener: () => void): unknown;
}

/** In front of each message: whether it is compressed, and its length. */
const prefixBytes = 5;

/** The most that the field of the tenant takes, which stands behind the prefix. */
const tenantBytes = 130;

/** The stream of a call, which the library keeps to itself. */
export function streamOf(call: object): CallStream {
  const stream: unknown = Reflect.get(call, "stream");
  assert(isStream(stream), "a call has a stream");
  return stream;
}

function isStream(value: unknown): value is CallStream {
  return typeof value === "object" && value !== null && "prependListener" in value;
}

/**
 * Counts the bytes of a large message from its prefix until the call has ended. When they exceed the
 * share of the tenant, `refuse` is called. The tenant of a compressed message
 * is not known, and it counts as the longest that it may become.
 */
export function countBytes(
  intake: Intake,
  stream: CallStream,
  {
    tenantOf,
    refuse,
  }: {
    /** The tenant that the beginning of a message names. Fails when the token is not for it. */
    readonly tenantOf: (message: Buffer) => TenantId | undefined;
    readonly refuse: (error: unknown) => void;
  },
): void {
  let head: Buffer = Buffer.alloc(0);
  const look = (chunk: Buffer): void => {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    if (head.length < prefixBytes) return;
    const isCompressed = head[0] !== 0;
    const announced = head.readUInt32BE(1);
    if (announced > largeBytes && head.length < prefixBytes + tenantBytes) return;
    stream.off("data", look);
    const bytes = isCompressed ? requestLimit : announced;
    if (bytes <= largeBytes) return;
    let tenant: TenantId | undefined;
    try {
      tenant = isCompressed ? undefined : tenantOf(head.subarray(prefixBytes));
      intake.bytes.take(tenant, bytes);
    } catch (error) {
      refuse(error);
      return;
    }
    whenOver(stream, () => intake.bytes.giveBack(tenant, bytes));
  };
  // Before the listener of the library, which takes the chunk in; `on` would also start the stream.
  stream.prependListener("data", look);
}

/**
 * Counts a request of the tenant, and begins it when the queue lets it. Fails with
 * CONCURRENCY_LIMIT_EXCEEDED.
 */
export function takeInCall(
  intake: Intake,
  stream: CallStream,
  { tenant, begin }: { readonly tenant: TenantId | undefined; readonly begin: () => void },
): void {
  intake.requests.take(tenant, 1);
  const entry = { tenant, begin };
  whenOver(stream, () => {
    intake.beginnings.leave(entry);
    intake.requests.giveBack(tenant, 1);
  });
  intake.beginnings.enter(entry);
}

/** A message is decompressed in a later round of the loop, and the client may leave before. */
function whenOver(stream: CallStream, release: () => void): void {
  if (stream.destroyed) release();
  else stream.once("close", release);
}
