import {
  type handleUnaryCall,
  type Metadata,
  type Server,
  type ServerInterceptingCallInterface,
  status,
  type StatusObject,
} from "@grpc/grpc-js";

import type { Credential } from "../auth/credential.ts";
import { assert } from "../base/assert.ts";

/** Is told what comes in on a call. */
export type CallListener = Parameters<ServerInterceptingCallInterface["start"]>[0];

/** Answers a call that has one request. Called when the whole of it has come. */
export type UnaryHandler = (call: UnaryCall, request: Buffer) => void;

/** The handlers of calls with one request and one answer, by the path of their method. */
export type UnaryHandlers = ReadonlyMap<string, UnaryHandler>;

/** The status of a call that failed. */
type FailedStatus = Pick<StatusObject, "code" | "details"> & Partial<StatusObject>;

/**
 * A call with one request and one answer. It takes the place of what the library makes for such a call, which
 * is a stream with all that belongs to it. A client that sends no request, or a second one, is told the same
 * as by the library.
 */
export class UnaryCall implements CallListener {
  readonly metadata: Metadata;
  readonly credential: Credential;
  readonly #call: ServerInterceptingCallInterface;
  readonly #path: string;
  readonly #handler: UnaryHandler;
  #request: Buffer | undefined;
  #isCancelled = false;
  #leave: (() => void) | undefined;

  constructor(
    call: ServerInterceptingCallInterface,
    {
      path,
      metadata,
      credential,
      handler,
    }: {
      readonly path: string;
      readonly metadata: Metadata;
      readonly credential: Credential;
      readonly handler: UnaryHandler;
    },
  ) {
    this.metadata = metadata;
    this.credential = credential;
    this.#call = call;
    this.#path = path;
    this.#handler = handler;
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

  sendMetadata(metadata: Metadata): void {
    this.#call.sendMetadata(metadata);
  }

  /** Ends the call with its answer. */
  answer(message: Buffer): void {
    const call = this.#call;
    call.sendMessage(message, () => call.sendStatus({ code: status.OK, details: "OK" }));
  }

  /** Ends the call without an answer. */
  fail(failed: FailedStatus): void {
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
    try {
      this.#handler(this, request);
    } catch {
      this.fail({ code: status.UNKNOWN, details: "Unknown error" });
    }
  }

  onCancel(): void {
    this.#isCancelled = true;
    this.#leave?.();
    this.#leave = undefined;
  }

  #refuse(problem: string): void {
    const details = `${problem} for server streaming method ${this.#path}`;
    this.fail({ code: status.UNIMPLEMENTED, details });
  }
}

/** Lets a server know a path whose handler `admitCalls` calls. */
export function registerUnary(server: Server, path: string): void {
  const unused: handleUnaryCall<Buffer, Buffer> = () =>
    assert(false, "calls with one answer are taken from the library before");
  server.register(path, unused, asIs, asIs, "unary");
}

/** Passes bytes on. Messages are decoded where their types are known. */
export function asIs(bytes: Buffer): Buffer {
  return bytes;
}
