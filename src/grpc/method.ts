import { type EventEmitter, once } from "node:events";

import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { handleBidiStreamingCall, StatusObject } from "@grpc/grpc-js";

import { Caller, forCaller } from "../base/caller.ts";
import { cancelled, type PembaError } from "../base/error.ts";
import { runInSlices } from "../base/time-slice.ts";
import { type Intake, largeBytes } from "../intake/intake.ts";
import { encodeInSteps } from "../messages/binary-steps.ts";
import { decodeMessage } from "../messages/binary.ts";
import type {
  CallContext,
  MessageCodec,
  MessageMethod,
  StreamingMethod,
  TypedMethod,
  UnaryMethod,
} from "../messages/method.ts";
import { permitTenantOf } from "../messages/tenant-of.ts";
import { type CredentialBearer, credentialOf } from "./call-credential.ts";
import { errorStatus } from "./error-status.ts";
import { decodeLarge } from "./large-message.ts";
import {
  type AnswerHead,
  type CallHead,
  metadataOf,
  type RequestCall,
  type RequestHandler,
} from "./request-call.ts";

/** The part of a call that its method can use besides the request. */
export interface GrpcContext extends CallContext {
  /** What came with the request. */
  readonly metadata: CallHead;
}

/** The outcome of a call, for the log. */
export type CallOutcome =
  | { readonly kind: "answered" }
  | { readonly kind: "failed"; readonly error: PembaError };

/** The common part of all kinds of calls. */
export interface ServerCall extends CredentialBearer {
  readonly cancelled: boolean;
  /** In milliseconds since 1970; infinite without one. */
  getDeadline(): Date | number;
  once(event: "cancelled", listener: () => void): unknown;
  off(event: "cancelled", listener: () => void): unknown;
}

/** A call in progress. */
export interface CallRecord {
  /** Goes to the client before the first answer. */
  readonly head: AnswerHead;
  /** Does the work of the call. Telemetry that is recorded during the work belongs to the call. */
  readonly run: <T>(work: () => T) => T;
  /** Ends the record. Called once. */
  readonly end: (outcome: CallOutcome) => void;
}

/** The frame of every call of any method. */
export interface CallFrame {
  /** Has the queue in which large messages wait to be read. */
  readonly intake: Intake;
  /** Called before the request is read. */
  begin(method: DescMethod, call: ServerCall): CallRecord;
  /** Converts anything thrown to an error of the table. */
  errorOf(thrown: unknown): PembaError;
}

/** A method with its handler, as the transport sees it: messages are bytes. */
export type ServedMethod = { readonly method: DescMethod } & (
  | {
      readonly kind: "unary" | "server_streaming";
      handler(frame: CallFrame): RequestHandler;
    }
  | {
      readonly kind: "bidi_streaming";
      handler(frame: CallFrame): handleBidiStreamingCall<Buffer, Buffer>;
    }
);

/** Serves a method over gRPC. */
export function serve(one: MessageMethod<GrpcContext>): ServedMethod {
  const { method } = one;
  switch (one.kind) {
    case "unary":
      return { method, kind: one.kind, handler: (frame) => handleUnary(frame, one) };
    case "server_streaming":
      return { method, kind: one.kind, handler: (frame) => handleStream(frame, one) };
  }
}

function handleUnary(
  frame: CallFrame,
  { method, answer }: UnaryMethod<GrpcContext>,
): RequestHandler {
  return (call, request) => {
    const { head, run, end, context, caller } = begin(frame, method, call);
    const reply = async (): Promise<void> => {
      let bytes: Buffer;
      try {
        bytes = await answer(codecOf(request, { frame, context }), context);
      } catch (thrown) {
        const error = frame.errorOf(thrown);
        end({ kind: "failed", error });
        call.sendHead(head);
        call.fail(errorStatus(error));
        return;
      }
      end({ kind: "answered" });
      // Sent with the answer, it costs no write of its own.
      call.sendHead(head);
      call.answer(bytes);
    };
    void run(() => forCaller(caller, reply));
  };
}

/** The next answers are read when the client can take them. */
function handleStream(
  frame: CallFrame,
  { method, answers }: StreamingMethod<GrpcContext>,
): RequestHandler {
  return (call, request) => {
    const { head, run, end, context, caller } = begin(frame, method, call);
    // A client may wait for it before there is an answer.
    call.sendHead(head);
    const reply = async (): Promise<void> => {
      try {
        const codec = codecOf(request, { frame, context });
        for await (const messages of await answers(codec, context)) {
          await send(call, messages, context.signal);
        }
      } catch (thrown) {
        const error = frame.errorOf(thrown);
        end({ kind: "failed", error });
        call.fail(errorStatus(error));
        return;
      }
      end({ kind: "answered" });
      call.finish();
    };
    void run(() => forCaller(caller, reply));
  };
}

/** Resolves when the messages have gone. Fails with CANCELLED if the client has left. */
async function send(
  call: RequestCall,
  messages: readonly Buffer[],
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) throw cancelled(undefined);
  if (messages.length === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const go = (): void => resolve();
  signal.addEventListener("abort", go, { once: true });
  call.send(messages, go);
  await promise;
  signal.removeEventListener("abort", go);
  if (signal.aborted) throw cancelled(undefined);
}

/** A method with one answer to each question, until the client ends its questions. */
export function bidiStreaming<I extends DescMessage, O extends DescMessage>(
  method: TypedMethod<I, O> & { readonly methodKind: "bidi_streaming" },
  answer: (request: MessageShape<I>) => MessageInitShape<O>,
): ServedMethod {
  return {
    method,
    kind: "bidi_streaming",
    handler: (frame) => (call) => {
      const { head, run, end, context } = begin(frame, method, call);
      call.sendMetadata(metadataOf(head));
      const reply = async (): Promise<void> => {
        try {
          for await (const bytes of call.iterator({ destroyOnReturn: false })) {
            const codec = codecOf(bytes, { frame, context });
            const request = await codec.read(method);
            await write(call, await codec.write(method.output, answer(request)), context.signal);
          }
        } catch (error) {
          // The questions of a client that has left end early, which is no fault of the server.
          throw context.signal.aborted ? cancelled(error) : error;
        }
      };
      finish(run(reply), { call, frame, end });
    },
  };
}

/** When the client stops waiting, by the clock of `performance`. */
function waitsUntil(call: ServerCall): number | undefined {
  const leftMs = Number(call.getDeadline()) - Date.now();
  return Number.isFinite(leftMs) ? performance.now() + leftMs : undefined;
}

/** Messages as bytes. A large request waits in a queue before it is decoded. */
function codecOf(
  bytes: Buffer,
  { frame, context }: { readonly frame: CallFrame; readonly context: GrpcContext },
): MessageCodec<Buffer> {
  return {
    async read(method) {
      const request =
        bytes.length > largeBytes
          ? await decodeLarge(method.input, bytes, { intake: frame.intake, signal: context.signal })
          : decodeMessage(method.input, bytes, "request");
      permitTenantOf(method, request, context.credential);
      return request;
    },
    write: (schema, message) => runInSlices(encodeInSteps(schema, message), context.signal),
  };
}

/**
 * Writes a message, and resolves when there is room for another one. Fails with CANCELLED if the
 * client has left.
 */
async function write(
  call: EventEmitter & { write(bytes: Buffer): boolean },
  bytes: Buffer,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) throw cancelled(undefined);
  const isFull = !call.write(bytes);
  if (!isFull) return;
  try {
    await once(call, "drain", { signal });
  } catch (error) {
    throw signal.aborted ? cancelled(error) : error;
  }
}

/** Ends a stream after its last answer, and records its outcome. */
function finish(
  reply: Promise<void>,
  {
    call,
    frame,
    end,
  }: {
    readonly call: { end(): unknown; emit(event: "error", status: Partial<StatusObject>): unknown };
    readonly frame: CallFrame;
    readonly end: (outcome: CallOutcome) => void;
  },
): void {
  reply.then(
    () => {
      end({ kind: "answered" });
      call.end();
    },
    (thrown: unknown) => {
      const error = frame.errorOf(thrown);
      end({ kind: "failed", error });
      call.emit("error", errorStatus(error));
    },
  );
}

/** Begins a call, and makes the context of its handler. */
function begin(
  frame: CallFrame,
  method: DescMethod,
  call: ServerCall,
): CallRecord & { readonly context: GrpcContext; readonly caller: Caller } {
  const { head, run, end } = frame.begin(method, call);
  const controller = new AbortController();
  const leave = (): void => controller.abort();
  if (call.cancelled) leave();
  call.once("cancelled", leave);
  return {
    head,
    run,
    end: (outcome) => {
      // The library ends by cancelling every call. A client with its answer has not left, and
      // aborting is expensive, because the error records a stack.
      call.off("cancelled", leave);
      end(outcome);
    },
    caller: new Caller(controller, waitsUntil(call)),
    context: {
      signal: controller.signal,
      metadata: call.metadata,
      credential: credentialOf(call),
    },
  };
}
