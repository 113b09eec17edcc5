import { assert } from "../base/assert.ts";
import { PembaError } from "../base/error.ts";
import type { LoopEntry } from "../base/loop-queue.ts";
import type { NamedTenant } from "../base/tuple.ts";
import { type Intake, largeBytes } from "../intake/intake.ts";
import { prefixBytes } from "./frame.ts";
import { Pieces } from "./pieces.ts";

/** The stream of HTTP/2 that carries the messages of a call; it ends with the call. */
export interface CallStream {
  readonly destroyed: boolean;
  prependListener(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "close", listener: () => void): unknown;
}

/** The stream of HTTP/2 itself. */
export interface Carrier extends Pick<CallStream, "on"> {
  readonly session?: { readonly socket: { readonly bytesWritten: number } } | undefined;
  close(code: number): void;
  destroy(): unknown;
}

/** The longest request, in bytes; a longer one ends in RESOURCE_EXHAUSTED. */
export const requestLimit = 4 * 1024 * 1024;

const nothing = Buffer.alloc(0);

/** The most that the field of the tenant takes, which stands behind the prefix. */
const tenantBytes = 131;

/** The stream of a call, which the library keeps to itself. */
export function streamOf(call: object): CallStream & Carrier {
  const stream: unknown = Reflect.get(call, "stream");
  assert(isStream(stream), "a call has a stream");
  return stream;
}

function isStream(value: unknown): value is CallStream & Carrier {
  return typeof value === "object" && value !== null && "prependListener" in value;
}

/** Deflate makes a message at most so many times as short. */
const compressionMax = 1_032;

/** What a message counts for. */
interface CountedBytes {
  readonly tenant: NamedTenant | undefined;
  readonly bytes: number;
  /** A share of several processes may have to be asked for, and the message may be over by then. */
  state: "asked" | "taken" | "returned";
}

export interface ByteOwners {
  /** Called with the error if a share is not given after it was asked for. */
  readonly refuse: (error: unknown) => void;
  /** The tenant that the beginning of a message names. Fails when the token is not for it. */
  tenantOf(message: Buffer): NamedTenant | undefined;
  /** Whose share a compressed message uses, which names its tenant inside. */
  readonly ofCompressed: NamedTenant | undefined;
}

/**
 * Counts the bytes of the messages of a call in the shares of their tenants: those of a large message
 * until the call ends, those of another one until all of it has come. A compressed message counts as
 * the longest that it may become, until it is decompressed.
 */
export class CallBytes {
  readonly #intake: Intake;
  readonly #owners: ByteOwners;
  /** The beginning of the next message, as long as it does not say how to count it. */
  #head: Buffer = nothing;
  /** How many bytes of the present message are still to come. */
  #left = 0;
  /** Of each message that was not passed on yet, in their order. */
  readonly #coming: CountedBytes[] = [];
  readonly #held: CountedBytes[] = [];
  /** Of the present message. */
  readonly #pieces = new Pieces();
  #isOver = false;
  #isRefused = false;

  constructor(intake: Intake, owners: ByteOwners) {
    this.#intake = intake;
    this.#owners = owners;
  }

  /**
   * Looks at the next bytes. Refuses with PAYLOAD_TOO_LARGE, before any of a message that is too large is kept, and
   * when they come in too many pieces, with CONCURRENCY_LIMIT_EXCEEDED, and as `tenantOf` fails.
   */
  readonly look = (chunk: Buffer): void => {
    if (this.#isRefused) return;
    try {
      this.#look(chunk);
    } catch (error) {
      this.#refuse(error);
    }
  };

  #look(chunk: Buffer): void {
    this.#pieces.add(chunk.length);
    let rest = chunk;
    while (rest.length > 0) {
      const passed = Math.min(this.#left, rest.length);
      this.#left -= passed;
      rest = rest.subarray(passed);
      if (rest.length === 0) return;
      rest = this.#begin(this.#head.length === 0 ? rest : Buffer.concat([this.#head, rest]));
    }
  }

  /** The next message has all come, and is not compressed any more. Fails as `look` refuses. */
  arrived(message: Buffer): void {
    const counted = this.#coming.shift();
    if (counted !== undefined) this.#giveBack(counted);
    if (message.length <= largeBytes) return;
    this.#held.push(this.#take(this.#owners.tenantOf(message), message.length));
  }

  /** Gives everything back. */
  readonly end = (): void => {
    this.#isOver = true;
    for (const counted of this.#coming) this.#giveBack(counted);
    for (const counted of this.#held) this.#giveBack(counted);
    this.#coming.length = 0;
    this.#held.length = 0;
  };

  #refuse(error: unknown): void {
    this.#isRefused = true;
    this.#owners.refuse(error);
  }

  /** Begins to count a message when enough of it is there. Returns what stands behind it. */
  #begin(head: Buffer): Buffer {
    this.#head = head;
    if (head.length < prefixBytes) return nothing;
    const announced = head.readUInt32BE(1);
    if (announced > requestLimit) {
      throw new PembaError("PAYLOAD_TOO_LARGE", "request: is too large, expected at most 4 MiB");
    }
    const end = prefixBytes + announced;
    if (head.length < Math.min(end, prefixBytes + tenantBytes)) return nothing;
    this.#head = nothing;
    this.#pieces.reset();
    this.#coming.push(this.#count(head, announced));
    this.#left = Math.max(0, end - head.length);
    return head.subarray(end);
  }

  #count(head: Buffer, announced: number): CountedBytes {
    const isCompressed = head[0] !== 0;
    const isWhole = head.length >= prefixBytes + announced;
    const bytes = isCompressed ? Math.min(announced * compressionMax, requestLimit) : announced;
    if (isWhole && bytes <= largeBytes) return uncounted;
    const owners = this.#owners;
    const tenant = isCompressed ? owners.ofCompressed : owners.tenantOf(head.subarray(prefixBytes));
    return this.#take(tenant, bytes);
  }

  #take(tenant: NamedTenant | undefined, bytes: number): CountedBytes {
    if (this.#isOver) return uncounted;
    const taken = this.#intake.bytes.take(tenant, bytes);
    if (taken === undefined) return { tenant, bytes, state: "taken" };
    const counted: CountedBytes = { tenant, bytes, state: "asked" };
    taken.then(
      () => {
        if (counted.state === "returned") this.#intake.bytes.giveBack(tenant, bytes);
        else counted.state = "taken";
      },
      (error: unknown) => {
        if (counted.state !== "returned") this.#refuse(error);
        counted.state = "returned";
      },
    );
    return counted;
  }

  #giveBack(counted: CountedBytes): void {
    const { tenant, bytes, state } = counted;
    counted.state = "returned";
    if (state === "taken") this.#intake.bytes.giveBack(tenant, bytes);
  }
}

/** What takes nothing. */
const uncounted: CountedBytes = { tenant: undefined, bytes: 0, state: "returned" };

/**
 * Counts the bytes of each message from its prefix. When they exceed the share of the tenant, `refuse`
 * is called.
 */
export function countBytes(intake: Intake, stream: CallStream, owners: ByteOwners): CallBytes {
  const bytes = new CallBytes(intake, owners);
  // Before the listener of the library, which takes the chunk in; `on` would also start the stream.
  stream.prependListener("data", bytes.look);
  whenOver(stream, bytes.end);
  return bytes;
}

/**
 * Counts a request of the tenant until its call ends. Returns what begins each of its messages when the
 * queue lets it, while the client is there. Fails with CONCURRENCY_LIMIT_EXCEEDED, or refuses later.
 */
export function takeInCall(
  intake: Intake,
  stream: CallStream,
  {
    tenant,
    taken: hasTaken,
    refuse,
  }: {
    readonly tenant: NamedTenant | undefined;
    /** Called when it counts. */
    readonly taken: () => void;
    /** Called with the error if the share is not given after it was asked for. */
    readonly refuse: (error: unknown) => void;
  },
): (begin: () => void) => void {
  let waiting: LoopEntry | undefined;
  const hold = (): void => {
    hasTaken();
    whenOver(stream, () => {
      if (waiting !== undefined) intake.beginnings.leave(waiting);
      intake.requests.giveBack(tenant, 1);
    });
  };
  const enter = (begin: () => void): void => {
    if (stream.destroyed) return;
    waiting = { tenant, begin };
    intake.beginnings.enter(waiting);
  };
  const taken = intake.requests.take(tenant, 1);
  if (taken === undefined) {
    hold();
    return enter;
  }
  const held = taken.then(hold);
  held.catch(refuse);
  return (begin) =>
    void held.then(
      () => enter(begin),
      () => undefined,
    );
}

/**
 * A message is decompressed in a later round of the loop, and the client may leave before. A stream closes
 * once, so the listener need not be removed, which costs more than to add it.
 */
function whenOver(stream: CallStream, release: () => void): void {
  if (stream.destroyed) release();
  else stream.on("close", release);
}
