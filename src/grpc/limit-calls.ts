import { constants, type Http2Server, type Http2Session, type ServerHttp2Stream } from "node:http2";

import { PembaError } from "../base/error.ts";
import type { LoopEntry, LoopQueue } from "../base/loop-queue.ts";
import { connectionKey, type Connections } from "../intake/connections.ts";
import type { Intake } from "../intake/intake.ts";
import { refusalHead } from "./direct-call.ts";
import { errorStatus } from "./error-status.ts";
import { HeadWeight } from "./head-weight.ts";
import type { UncountedCalls } from "./uncounted-calls.ts";

/** As over REST, where Node has this limit. */
const headLimit = 16 * 1024;

/** The calls that are open on a connection. */
interface OpenCalls {
  count: number;
  /** Of the connection. */
  readonly key: string;
  readonly waiting: WaitingCalls;
}

/**
 * Limits the calls that are open on each connection, the size of their heads, and how many begin in a round of
 * the event loop. A client learns the limit of a connection with its first answer, and may have opened thousands
 * of calls by then: HTTP/2 refuses these as calls that were not begun, which clients make again by themselves.
 */
export function limitCalls(
  listener: Http2Server,
  {
    connections,
    intake,
    uncounted,
  }: {
    readonly connections: Connections;
    readonly intake: Intake;
    readonly uncounted: UncountedCalls;
  },
): void {
  const max = intake.limits.callsOfConnection;
  const weight = new HeadWeight();
  const openOn = new WeakMap<Http2Session, OpenCalls>();
  const callsOf = (session: Http2Session): OpenCalls => {
    const known = openOn.get(session);
    if (known !== undefined) return known;
    const waiting = new WaitingCalls(intake.calls);
    const calls = { count: 0, key: connectionKey(session.socket), waiting };
    openOn.set(session, calls);
    return calls;
  };
  const before = listener.listeners("stream");
  listener.removeAllListeners("stream");
  listener.on("stream", (stream, headers, flags, rawHeaders) => {
    const { session } = stream;
    if (session === undefined) {
      // The client has reset it in what was read with its head, and its error is still to come.
      stream.on("error", ignore);
      return;
    }
    const bytes = bytesOf(rawHeaders);
    weight.add(bytes);
    const calls = callsOf(session);
    if (calls.count >= max) {
      stream.on("error", ignore);
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    countUntilClosed(stream, { calls, connections, uncounted });
    const begin = (): void => {
      if (bytes > headLimit) refuseHead(stream);
      else for (const each of before) each.call(listener, stream, headers, flags, rawHeaders);
    };
    if (intake.calls.beginsNow()) begin();
    else calls.waiting.add(stream, begin);
  });
}

/** What its listener leads to is kept with a stream, so it must not lead to its head. */
function countUntilClosed(
  stream: ServerHttp2Stream,
  {
    calls,
    connections,
    uncounted,
  }: {
    readonly calls: OpenCalls;
    readonly connections: Connections;
    readonly uncounted: UncountedCalls;
  },
): void {
  calls.count += 1;
  const ended = connections.began(calls.key);
  uncounted.add(stream);
  // It comes once, and to remove a listener costs more than to add it.
  stream.on("close", () => {
    calls.count -= 1;
    uncounted.remove(stream);
    ended();
  });
}

/** Calls of a connection that begin in a later round of the event loop, in turn with those of other connections. */
class WaitingCalls implements LoopEntry {
  readonly tenant = undefined;
  readonly #queue: LoopQueue;
  readonly #begins = new Map<ServerHttp2Stream, () => void>();

  constructor(queue: LoopQueue) {
    this.#queue = queue;
  }

  add(stream: ServerHttp2Stream, begin: () => void): void {
    this.#begins.set(stream, begin);
    if (this.#begins.size === 1) this.#queue.wait(this);
    // Nothing else listens until it begins. It closes after an error.
    stream.on("error", ignore);
    stream.on("close", () => this.#begins.delete(stream));
  }

  readonly begin = (): void => {
    const [next] = this.#begins;
    if (next === undefined) return;
    const [stream, begin] = next;
    this.#begins.delete(stream);
    if (this.#begins.size > 0) this.#queue.wait(this);
    begin();
  };
}

/** As HTTP/2 has it, without what it adds for each field. */
function bytesOf(rawHeaders: readonly string[]): number {
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}

function refuseHead(stream: ServerHttp2Stream): void {
  stream.on("error", ignore);
  const error = new PembaError("VALIDATION", "metadata: is too large, expected at most 16 KiB");
  stream.respond(refusalHead(errorStatus(error)), { endStream: true });
  stream.close();
}

/** The stream closes after an error. */
function ignore(): void {}
