import { constants } from "node:http2";

import {
  type handleUnaryCall,
  Metadata,
  type Server,
  type ServerInterceptingCallInterface,
  status,
  type StatusObject,
} from "@grpc/grpc-js";

import type { Credential } from "../auth/credential.ts";
import { assert } from "../base/assert.ts";
import { largeBytes } from "../intake/intake.ts";
import type { UnreadAnswers } from "../intake/unread-answers.ts";
import type { Carrier } from "./take-in.ts";
import { tenantIn } from "./tenant-in.ts";

/** Is told what comes in on a call of the library. */
export type CallListener = Parameters<ServerInterceptingCallInterface["start"]>[0];

/** Is told what comes in on a call. */
export type IncomingListener<Head> = Omit<CallListener, "onReceiveMetadata"> & {
  onReceiveMetadata(head: Head): void;
};

/** What came with a call. */
export interface CallHead {
  /** All values of a header. */
  get(name: string): readonly (string | Buffer)[];
}

/** Headers that go to the client before its answer. */
export type AnswerHead = Readonly<Record<string, string>>;

/** The status of a call, in which all are that its end needs. */
export type CallStatus = Pick<StatusObject, "code" | "details"> & Partial<StatusObject>;

/** What carries a call: its answers go out by it. */
export type CarriedCall = Pick<ServerInterceptingCallInterface, "startRead" | "getDeadline"> & {
  sendHead(head: AnswerHead): void;
  /** Ends the call, with what was sent before. */
  sendStatus(status: CallStatus): void;
  /** Ends the call with its only answer. */
  answer(message: Buffer): void;
  /**
   * Sends answers, at least one, of a call that goes on. `sent` is called when they have gone, and need not be called
   * when the call has ended before.
   */
  send(messages: readonly Buffer[], sent: () => void): void;
  /** Has nothing more read of a call that is ended, when its status has gone. The library cannot. */
  leaveUnread?(): void;
};

/** How a call ends that did what was asked. */
export const answered: CallStatus = { code: status.OK, details: "OK" };

/** Answers a call that has one request. Called when the whole of it has come. What it throws refuses the call. */
export type RequestHandler = (call: RequestCall, request: Buffer) => void;

/** The handlers of calls with one request, by the path of their method. */
export type RequestHandlers = ReadonlyMap<string, RequestHandler>;

/**
 * A call with one request, and one answer or several. It takes the place of what the library makes for such a call,
 * which is a stream with all that belongs to it. A client that sends no request, or a second one, is told the same
 * as by the library.
 */
export class RequestCall implements IncomingListener<CallHead> {
  readonly metadata: CallHead;
  readonly credential: Credential;
  readonly #call: CarriedCall;
  readonly #path: string;
  readonly #handler: RequestHandler;
  readonly #unread: UnreadAnswers;
  readonly #carrier: Carrier;
  #request: Buffer | undefined;
  #isCancelled = false;
  #leave: (() => void) | undefined;

  constructor(
    call: CarriedCall,
    {
      path,
      metadata,
      credential,
      handler,
      unread,
      carrier,
    }: {
      readonly path: string;
      readonly metadata: CallHead;
      readonly credential: Credential;
      readonly handler: RequestHandler;
      readonly unread: UnreadAnswers;
      readonly carrier: Carrier;
    },
  ) {
    this.metadata = metadata;
    this.credential = credential;
    this.#call = call;
    this.#path = path;
    this.#handler = handler;
    this.#unread = unread;
    this.#carrier = carrier;
  }

  get cancelled(): boolean {
    return this.#isCancelled;
  }

  getDeadline(): Date | number {
    return this.#call.getDeadline();
  }

  /** Only its handler listens, once. */
  once(_event: "cancelled", listener: () => void): void {
    this.#leave = listener;
  }

  off(_event: "cancelled", listener: () => void): void {
    if (this.#leave === listener) this.#leave = undefined;
  }

  sendHead(head: AnswerHead): void {
    this.#call.sendHead(head);
  }

  /** Ends the call with its only answer. */
  answer(message: Buffer): void {
    // The stream of a cancelled call is closed already, and would never tell that the answer has gone.
    if (message.length > largeBytes && !this.#isCancelled) this.#countUnread(message.length);
    this.#call.answer(message);
  }

  /** As `CarriedCall.send`. */
  send(messages: readonly Buffer[], sent: () => void): void {
    this.#call.send(messages, sent);
  }

  /** Ends the call behind its answers. */
  finish(): void {
    this.#call.sendStatus(answered);
  }

  /** Ends the call with an error. */
  fail(failed: CallStatus): void {
    this.#call.sendStatus(failed);
  }

  onReceiveMetadata(): void {
    this.#call.startRead();
  }

  onReceiveMessage(message: Buffer): void {
    if (this.#request !== undefined) {
      this.#refuse("Received a second request message");
      return;
    }
    this.#request = message;
    this.#call.startRead();
  }

  onReceiveHalfClose(): void {
    const request = this.#request;
    if (request === undefined) {
      this.#refuse("Received no request message");
      return;
    }
    this.#handler(this, request);
  }

  onCancel(): void {
    this.#isCancelled = true;
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Until the call is over: the client may never take the whole answer. */
  #countUnread(bytes: number): void {
    const carrier = this.#carrier;
    const tenant = this.#request && tenantIn(this.#request);
    const gone = this.#unread.add(tenant, {
      bytes,
      cut: () => {
        carrier.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
        // What waits to be written would be kept until the client reads.
        carrier.destroy();
      },
      // All answers of a connection go at the same time, so one may take long of which little goes.
      taken: () => carrier.session?.socket.bytesWritten ?? 0,
    });
    carrier.on("close", gone);
  }

  #refuse(problem: string): void {
    const details = `${problem} for server streaming method ${this.#path}`;
    this.fail({ code: status.UNIMPLEMENTED, details });
  }
}

/**
 * Lets a server know a path whose handler `admitCalls` calls. As far as the server knows, all such calls have one
 * answer.
 */
export function registerPath(server: Server, path: string): void {
  const unused: handleUnaryCall<Buffer, Buffer> = () =>
    assert(false, "calls with one request are taken from the library before");
  server.register(path, unused, asIs, asIs, "unary");
}

/** The form in which the library takes a head. */
export function metadataOf(head: AnswerHead): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(head)) metadata.set(name, value);
  return metadata;
}

/** Passes bytes on. Messages are decoded where their types are known. */
export function asIs(bytes: Buffer): Buffer {
  return bytes;
}
