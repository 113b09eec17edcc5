import { hash } from "node:crypto";

import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

import { isMacOf, type TokenMac } from "../../../base/token-mac.ts";
import type { SnapToken } from "../../../base/tuple.ts";
import { isId, isVisible, type Snapshot, type XidRange } from "./snapshot.ts";

/** What a snap token of the Postgres engine says. */
export interface TokenContent {
  /** Eight bytes that stand for the cluster and database. */
  readonly identity: string;
  readonly timeline: number;
  readonly snapshot: Snapshot;
  /** The transaction whose change the token was given for, which its snapshot shows. */
  readonly change: bigint | undefined;
  /** A transaction with an id from here on began after the state was looked at; at least xmax. */
  readonly takenBefore: bigint;
}

/** The first byte of every token; another layout gets another number. */
const layout = 3;
const identityLength = 8;
const macLength = 8;

/**
 * More running transactions than servers have. The server wants them one by one, so a token that
 * anyone made up must not claim as many as it likes: what claims more was not made here.
 */
const runningMax = 10_000n;

/** A text that is longer says more than that. */
const textMax = 64 * 1024;

const timelineMax = 2n ** 31n - 1n;

/** Ids are 64 bits wide, and two numbers are added. */
const numberMax = 2n ** 63n - 1n;

/** What stands for a cluster and database in a token: eight bytes of a hash, as hexadecimal. */
export function identityOf(installation: string): string {
  return hash("sha256", installation, "hex").slice(0, 2 * identityLength);
}

/** Text that `decodeSnapToken` understands. */
export function encodeSnapToken(mac: TokenMac, content: TokenContent): SnapToken {
  const body = bodyOf(content);
  const code = mac(body).subarray(0, macLength);
  // The one place where the text becomes a token of this engine.
  return Buffer.concat([body, code]).toString("base64url") as SnapToken;
}

/**
 * Numbers as protobuf writes them, without the numbers of fields: every field stands in every token.
 * Ranges are kept as ranges, relative to each other.
 */
function bodyOf(content: TokenContent): Uint8Array {
  const { identity, timeline, snapshot, change, takenBefore } = content;
  const writer = new BinaryWriter()
    .raw(Uint8Array.of(layout))
    .raw(Buffer.from(identity, "hex"))
    .uint32(timeline)
    .uint64(snapshot.xmax)
    // A change that is visible lies below xmax, so that 0 is free to say that there is none.
    .uint64(change === undefined ? 0n : snapshot.xmax - change)
    .uint64(takenBefore - snapshot.xmax);
  // Backwards from xmax, since what runs is near to it. The lowest bit tells a range from one id.
  let position = snapshot.xmax;
  for (const { start, end } of snapshot.running.toReversed()) {
    const length = end - start;
    writer.uint64(((position - end) << 1n) | (length > 1n ? 1n : 0n));
    if (length > 1n) writer.uint64(length);
    position = start;
  }
  return writer.finish();
}

/** Whether a state has a token that can be read: fewer ids are running in it than that. */
export function hasToken({ running }: Snapshot): boolean {
  return running.reduce((count, { start, end }) => count + end - start, 0n) <= runningMax;
}

/** What the token says, or undefined when it is not one of ours, whole and unchanged. */
export function decodeSnapToken(mac: TokenMac, token: string): TokenContent | undefined {
  if (token.length > textMax) return undefined;
  const bytes = Buffer.from(token, "base64url");
  if (bytes.toString("base64url") !== token) return undefined;
  const body = bytes.subarray(0, -macLength);
  if (body.length <= 1 + identityLength || body[0] !== layout) return undefined;
  if (!isMacOf(mac, body, bytes.subarray(-macLength))) return undefined;
  const content = contentOf(body);
  // Each state has one token, so that what is kept by token is kept once.
  return content !== undefined && body.equals(bodyOf(content)) ? content : undefined;
}

/** Undefined when no server can have been in that state, even if the code is right. */
function contentOf(body: Buffer): TokenContent | undefined {
  const numbers = readNumbers(body.subarray(1 + identityLength));
  const [timeline, xmax, age, later, ...rest] = numbers ?? [];
  if (timeline === undefined || xmax === undefined) return undefined;
  if (age === undefined || later === undefined || age > xmax) return undefined;
  const running = readRunning(xmax, rest);
  if (running === undefined || timeline === 0n || timeline > timelineMax) return undefined;
  // The server takes no snapshot with a bound that is no id.
  if (!isId(xmax) || running.some(({ start }) => !isId(start))) return undefined;
  const snapshot = { xmax, running };
  const change = age === 0n ? undefined : xmax - age;
  if (change !== undefined && !(isId(change) && isVisible(snapshot, change))) return undefined;
  return {
    identity: body.subarray(1, 1 + identityLength).toString("hex"),
    timeline: Number(timeline),
    snapshot,
    change,
    takenBefore: xmax + later,
  };
}

function readRunning(xmax: bigint, numbers: readonly bigint[]): readonly XidRange[] | undefined {
  const backwards: XidRange[] = [];
  let position = xmax;
  let count = 0n;
  for (let index = 0; index < numbers.length; index++) {
    const gap = numbers[index] ?? 0n;
    const isRange = (gap & 1n) === 1n;
    if (isRange) index++;
    const length = isRange ? numbers[index] : 1n;
    if (length === undefined || length === 0n) return undefined;
    // Ranges that touch would be one.
    if (backwards.length > 0 && gap >> 1n === 0n) return undefined;
    const end = position - (gap >> 1n);
    const start = end - length;
    count += length;
    if (start < 0n || count > runningMax) return undefined;
    backwards.push({ start, end });
    position = start;
  }
  return backwards.toReversed();
}

/** The numbers up to the end; undefined if one is too large or not whole. */
function readNumbers(bytes: Uint8Array): readonly bigint[] | undefined {
  const reader = new BinaryReader(bytes);
  const numbers: bigint[] = [];
  try {
    while (reader.pos < reader.len) numbers.push(BigInt(reader.uint64()));
  } catch {
    return undefined;
  }
  return numbers.every((number) => number <= numberMax) ? numbers : undefined;
}
