import {
  constants,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";

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
  readonly arriving: ArrivingCalls;
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
    const arriving = new ArrivingCalls(intake.arrivals);
    const calls = { count: 0, key: connectionKey(session.socket), arriving };
    openOn.set(session, calls);
    return calls;
  };
  const before = listener.listeners("stream");
  listener.removeAllListeners("stream");
  listener.on(
    "stream",
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...others: readonly unknown[]) => {
      const { session } = stream;
      if (session === undefined) return;
      const bytes = bytesOf(headers);
      weight.add(bytes);
      const calls = callsOf(session);
      if (calls.count >= max) {
        stream.on("error", ignore);
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
        return;
      }
      const call = new ArrivedCall(() => {
        if (stream.destroyed) return;
        if (bytes > headLimit) refuseHead(stream);
        else for (const each of before) each.call(listener, stream, headers, ...others);
      });
      countUntilClosed(stream, { calls, call, connections, uncounted });
      calls.arriving.enter(call);
      if (call.isWaiting) stream.on("error", ignore);
    },
  );
}

/** What its listener leads to is kept with a stream, so it must not lead to its head. */
function countUntilClosed(
  stream: ServerHttp2Stream,
  {
    calls,
    call,
    connections,
    uncounted,
  }: {
    readonly calls: OpenCalls;
    readonly call: ArrivedCall;
    readonly connections: Connections;
    readonly uncounted: UncountedCalls;
  },
): void {
  calls.count += 1;
  const ended = connections.began(calls.key);
  uncounted.add(stream, calls);
  // It comes once, and to remove a listener costs more than to add it.
  stream.on("close", () => {
    calls.count -= 1;
    calls.arriving.leave(call);
    uncounted.remove(stream);
    ended();
  });
}

/** A call whose head has come. */
class ArrivedCall {
  #begin: (() => void) | undefined;

  constructor(begin: () => void) {
    this.#begin = begin;
  }

  get isWaiting(): boolean {
    return this.#begin !== undefined;
  }

  begin(): void {
    const begin = this.#begin;
    this.#begin = undefined;
    begin?.();
  }

  forget(): void {
    this.#begin = undefined;
  }
}

/** Calls of a connection, which begin in turn with those of other connections. */
class ArrivingCalls implements LoopEntry {
  readonly tenant = undefined;
  readonly #arrivals: LoopQueue;
  readonly #waiting = new Set<ArrivedCall>();

  constructor(arrivals: LoopQueue) {
    this.#arrivals = arrivals;
  }

  /** Begins the call now or in a later round of the event loop. */
  enter(call: ArrivedCall): void {
    this.#waiting.add(call);
    if (this.#waiting.size === 1) this.#arrivals.enter(this);
  }

  leave(call: ArrivedCall): void {
    call.forget();
    this.#waiting.delete(call);
  }

  readonly begin = (): void => {
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    if (this.#waiting.size > 0) this.#arrivals.wait(this);
    next.begin();
  };
}

/** As HTTP/2 has it, without what it adds for each field. */
function bytesOf(headers: IncomingHttpHeaders): number {
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name];
    bytes += name.length;
    if (typeof value === "string") bytes += value.length;
    else if (value !== undefined) for (const each of value) bytes += each.length;
  }
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
