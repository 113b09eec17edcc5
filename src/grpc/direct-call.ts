import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";

import { status } from "@grpc/grpc-js";

import { parseTimeout } from "../base/grpc-timeout.ts";
import { timerMs } from "../base/pause.ts";
import { framed, prefixBytes } from "./frame.ts";
import {
  type AnswerHead,
  answered,
  type CallHead,
  type CallStatus,
  type CarriedCall,
  type IncomingListener,
} from "./request-call.ts";
import type { CallStream } from "./take-in.ts";

const contentType = "application/grpc+proto";
const withTrailers = { waitForTrailers: true };
const answeredParts = { "grpc-status": status.OK, "grpc-message": "OK" };
const noHead: AnswerHead = {};
const late: CallStatus = { code: status.DEADLINE_EXCEEDED, details: "Deadline exceeded" };

/**
 * Whether a call can do without the library: its messages are not compressed, and their type is one that
 * the library takes.
 */
export function isDirect(headers: IncomingHttpHeaders): boolean {
  const { "content-type": type, "grpc-encoding": encoding } = headers;
  return (
    type !== undefined &&
    type.startsWith("application/grpc") &&
    (encoding === undefined || encoding === "identity")
  );
}

/**
 * A call on its stream of HTTP/2, without the objects that the library makes for each call. A client is told
 * the same as by the library.
 *
 * A stream is kept until the whole memory is searched for what is in use, as it has a part outside of
 * JavaScript. All that it leads to is kept, and copied, with it. So it leads to the call only, and the call
 * lets go of everything when the stream has closed.
 */
export class DirectCall implements CarriedCall, CallStream {
  readonly #stream: ServerHttp2Stream;
  #listener: IncomingListener<CallHead> | undefined;
  #look: ((chunk: Buffer) => void) | undefined;
  #closed: (() => void)[] = [];
  #deadline = Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** What has come of messages that were not passed on. */
  #chunks: Buffer[] = [];
  #size = 0;
  #isReading = false;
  #isAsked = false;
  #isHalfClosed = false;
  #isHeadSent = false;
  /** Goes out behind the answer, or in its place. */
  #status: CallStatus | undefined;
  #isOver = false;
  #isLeftUnread = false;

  /** `listen` makes the listener that is told what comes in. */
  constructor(stream: ServerHttp2Stream, listen: (call: DirectCall) => IncomingListener<CallHead>) {
    this.#stream = stream;
    this.#listener = listen(this);
    stream.on("error", ignore);
    stream.on("close", this.#close);
  }

  get destroyed(): boolean {
    return this.#stream.destroyed;
  }

  /** One listener is told of each chunk before it is read. */
  prependListener(_event: "data", listener: (chunk: Buffer) => void): void {
    this.#look = listener;
  }

  on(_event: "close", listener: () => void): void {
    this.#closed.push(listener);
  }

  leaveUnread(): void {
    this.#isLeftUnread = true;
  }

  /** Gives the head to the listener, unless its timeout cannot be read. */
  begin(headers: IncomingHttpHeaders): void {
    const timeout = headers["grpc-timeout"];
    if (timeout !== undefined) {
      const timeoutMs = parseTimeout(String(timeout));
      if (timeoutMs === undefined) {
        const details = `Invalid grpc-timeout value "${String(timeout)}"`;
        this.sendStatus({ code: status.INTERNAL, details });
        return;
      }
      this.#limitTime(timeoutMs);
    }
    this.#listener?.onReceiveMetadata(new HeaderValues(headers));
  }

  /** Gives the next message to the listener when it has come, or that none will come. */
  startRead(): void {
    if (this.#isGone) return;
    this.#isAsked = true;
    if (this.#isReading) {
      this.#pass();
      return;
    }
    this.#isReading = true;
    this.#stream.on("data", this.#take);
    this.#stream.on("end", this.#halfClose);
  }

  getDeadline(): number {
    return this.#deadline;
  }

  sendHead(head: AnswerHead): void {
    if (this.#isGone || this.#isHeadSent) return;
    this.#isHeadSent = true;
    // A new list for each call, because Node adds to it.
    const sent = [":status", "200", "content-type", contentType];
    sent.push("grpc-accept-encoding", "identity,deflate,gzip", "grpc-encoding", "identity");
    for (const [name, value] of Object.entries(head)) sent.push(name, value);
    this.#stream.respond(sent, withTrailers);
  }

  answer(message: Buffer): void {
    if (this.#isGone || this.#status !== undefined) return;
    this.sendHead(noHead);
    this.#status = answered;
    this.#stream.on("wantTrailers", this.#sendTrailers);
    this.#stream.end(framed([message]));
  }

  /** All go out as one piece: each write costs far more than a message. */
  send(messages: readonly Buffer[], sent: () => void): void {
    if (this.#isGone || this.#status !== undefined) return;
    this.sendHead(noHead);
    this.#stream.write(framed(messages), sent);
  }

  sendStatus(sent: CallStatus): void {
    if (this.#isGone || this.#status !== undefined) return;
    this.#status = sent;
    if (this.#isHeadSent) {
      this.#stream.on("wantTrailers", this.#sendTrailers);
      this.#stream.end();
      return;
    }
    this.#stream.respond(refusalHead(sent), { endStream: true });
    this.#over();
  }

  get #isGone(): boolean {
    return this.#isOver || this.#stream.destroyed || this.#stream.closed;
  }

  #limitTime(timeoutMs: number): void {
    this.#deadline = Date.now() + timeoutMs;
    this.#timer = setTimeout(() => {
      // The client may not have read the answer.
      if (this.#status === answered) this.#status = late;
      else this.sendStatus(late);
      this.#listener?.onCancel();
    }, timerMs(timeoutMs));
  }

  readonly #sendTrailers = (): void => {
    const sent = this.#status ?? answered;
    const isAnswered = sent === answered;
    this.#stream.sendTrailers(isAnswered ? answeredParts : { ...partsOf(sent), ...othersOf(sent) });
    this.#over();
    // A stream that is closed at once would drop its trailers.
    if (this.#isLeftUnread) setImmediate(() => this.#stream.close());
  };

  readonly #take = (chunk: Buffer): void => {
    this.#look?.(chunk);
    if (this.#isGone) return;
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#pass();
  };

  readonly #halfClose = (): void => {
    this.#isHalfClosed = true;
    this.#pass();
  };

  /** Reads no further while the listener has not asked. */
  #pass(): void {
    while (this.#isAsked && !this.#isGone) {
      const message = this.#nextMessage();
      if (message !== undefined) {
        this.#isAsked = false;
        this.#listener?.onReceiveMessage(message);
      } else if (this.#isHalfClosed) {
        this.#isAsked = false;
        this.#listener?.onReceiveHalfClose();
      } else {
        break;
      }
    }
    if (this.#isGone || this.#isHalfClosed) return;
    if (!this.#isAsked) this.#stream.pause();
    else if (this.#stream.isPaused()) this.#stream.resume();
  }

  #nextMessage(): Buffer | undefined {
    if (this.#size < prefixBytes) return undefined;
    const [first] = this.#chunks;
    const head = first !== undefined && first.length >= prefixBytes ? first : this.#joined();
    const end = prefixBytes + head.readUInt32BE(1);
    if (this.#size < end) return undefined;
    const whole = this.#joined();
    this.#size -= end;
    this.#chunks = this.#size === 0 ? [] : [whole.subarray(end)];
    return whole.subarray(prefixBytes, end);
  }

  #joined(): Buffer {
    const [first, ...others] = this.#chunks;
    const joined = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  readonly #close = (): void => {
    this.#over();
    for (const each of this.#closed) each();
    this.#closed = [];
    this.#look = undefined;
    this.#listener = undefined;
  };

  /** Called when the status has gone, or the client has left before. */
  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#chunks = [];
    this.#listener?.onCancel();
    // A stream ends when all that came on it is read.
    this.#stream.resume();
  }
}

/** The headers of a request, of which few are read. A value that the library leaves out is left out. */
class HeaderValues implements CallHead {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): readonly string[] {
    const value = this.#headers[name];
    if (value === undefined) return none;
    const values = typeof value === "string" ? [value] : value;
    return values.filter((each) => legal.test(each));
  }
}

const none: readonly string[] = [];
const legal = /^[ -~]*$/;

/** The only headers of a call that ends before anything was sent. */
export function refusalHead(sent: CallStatus): OutgoingHttpHeaders {
  const head = { ":status": 200, "content-type": contentType };
  return { ...partsOf(sent), ...head, ...othersOf(sent) };
}

function partsOf({ code, details }: CallStatus): OutgoingHttpHeaders {
  return { "grpc-status": code, "grpc-message": encodeURI(details) };
}

/** What goes beside the code and its details. */
function othersOf({ metadata }: CallStatus): OutgoingHttpHeaders | undefined {
  return metadata?.toHttp2Headers();
}

/** The stream closes after an error, which is all that a call has to know. */
function ignore(): void {}
