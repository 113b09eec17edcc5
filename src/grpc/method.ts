import { type EventEmitter, once } from "node:events";

import type {
  DescMessage,
  DescMethod,
  MessageInitShape,
  MessageShape,
  Message,
} from "@bufbuild/protobuf";
import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  StatusObject,
} from "@grpc/grpc-js";

import { type Credential, permitTenant } from "../auth/credential.ts";
import { Caller, forCaller } from "../base/caller.ts";
import { cancelled, type PembaError } from "../base/error.ts";
import { Tenancy } from "../gen/base/v1/tenancy_pb.ts";
import { type Intake, largeBytes } from "../intake/intake.ts";
import { credentialOf } from "./call-credential.ts";
import { errorStatus } from "./error-status.ts";
import { decodeLarge } from "./large-message.ts";
import { decodeMessage, encodeMessage } from "./message.ts";

/** The part of a call that its handler can use besides the request. */
export interface CallContext {
  /** Aborted when the client has left or its deadline has passed. */
  readonly signal: AbortSignal;
  /** What came with the request. */
  readonly metadata: Metadata;
  /** The rights of its token. */
  readonly credential: Credential;
}

/** The outcome of a call, for the log. */
export type CallOutcome =
  | { readonly kind: "answered" }
  | { readonly kind: "failed"; readonly error: PembaError };

/** The common part of all kinds of calls. */
export interface ServerCall {
  /** What came with the request. */
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  /** In milliseconds since 1970; infinite without one. */
  getDeadline(): Date | number;
  once(event: "cancelled", listener: () => void): unknown;
  off(event: "cancelled", listener: () => void): unknown;
  sendMetadata(metadata: Metadata): void;
}

/** A call in progress. */
export interface CallRecord {
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
  | { readonly kind: "unary"; handler(frame: CallFrame): handleUnaryCall<Buffer, Buffer> }
  | {
      readonly kind: "server_streaming";
      handler(frame: CallFrame): handleServerStreamingCall<Buffer, Buffer>;
    }
  | {
      readonly kind: "bidi_streaming";
      handler(frame: CallFrame): handleBidiStreamingCall<Buffer, Buffer>;
    }
);

type Typed<I extends DescMessage, O extends DescMessage> = DescMethod & {
  readonly input: I;
  readonly output: O;
};

/** A method with one answer. */
export function unary<I extends DescMessage, O extends DescMessage>(
  method: Typed<I, O> & { readonly methodKind: "unary" },
  answer: (request: MessageShape<I>, context: CallContext) => Promise<MessageInitShape<O>>,
): ServedMethod {
  return {
    method,
    kind: "unary",
    handler: (frame) => (call, callback) => {
      const { run, end, context, caller } = begin(frame, method, call);
      const reply = async (): Promise<void> => {
        let bytes: Buffer;
        try {
          const request = await readRequest(method, call.request, { frame, context });
          bytes = encodeMessage(method.output, await answer(request, context));
        } catch (thrown) {
          const error = frame.errorOf(thrown);
          end({ kind: "failed", error });
          callback(errorStatus(error));
          return;
        }
        end({ kind: "answered" });
        callback(null, bytes);
      };
      void run(() => forCaller(caller, reply));
    },
  };
}

/**
 * A method with a stream of answers. The next one is read when the client can take it. When the
 * signal of the context is aborted, the answers should stop waiting.
 */
export function serverStreaming<I extends DescMessage, O extends DescMessage>(
  method: Typed<I, O> & { readonly methodKind: "server_streaming" },
  answers: (request: MessageShape<I>, context: CallContext) => AsyncIterable<MessageInitShape<O>>,
): ServedMethod {
  return {
    method,
    kind: "server_streaming",
    handler: (frame) => (call) => {
      const { run, end, context, caller } = begin(frame, method, call);
      const reply = async (): Promise<void> => {
        const request = await readRequest(method, call.request, { frame, context });
        for await (const message of answers(request, context)) {
          await write(call, encodeMessage(method.output, message), context.signal);
        }
      };
      finish(
        run(() => forCaller(caller, reply)),
        { call, frame, end },
      );
    },
  };
}

/** A method with one answer to each question, until the client ends its questions. */
export function bidiStreaming<I extends DescMessage, O extends DescMessage>(
  method: Typed<I, O> & { readonly methodKind: "bidi_streaming" },
  answer: (request: MessageShape<I>) => MessageInitShape<O>,
): ServedMethod {
  return {
    method,
    kind: "bidi_streaming",
    handler: (frame) => (call) => {
      const { run, end, context } = begin(frame, method, call);
      const reply = async (): Promise<void> => {
        try {
          for await (const bytes of call.iterator({ destroyOnReturn: false })) {
            const request = await readRequest(method, bytes, { frame, context });
            await write(call, encodeMessage(method.output, answer(request)), context.signal);
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

/** Decodes the request and checks its token. A large request waits in a queue first. */
async function readRequest<I extends DescMessage>(
  method: DescMethod & { readonly input: I },
  bytes: Buffer,
  { frame, context }: { readonly frame: CallFrame; readonly context: CallContext },
): Promise<MessageShape<I>> {
  const request =
    bytes.length > largeBytes
      ? await decodeLarge(method.input, bytes, { intake: frame.intake, signal: context.signal })
      : decodeMessage(method.input, bytes, "request");
  const tenant = tenantOf(method, request);
  if (tenant !== undefined) permitTenant(context.credential, tenant);
  return request;
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
): CallRecord & { readonly context: CallContext; readonly caller: Caller } {
  const { run, end } = frame.begin(method, call);
  const controller = new AbortController();
  const leave = (): void => controller.abort();
  if (call.cancelled) leave();
  call.once("cancelled", leave);
  return {
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
      credential: credentialOf(call.metadata),
    },
  };
}

/** Whether requests of a method name a tenant. Requests that list tenants do not. */
export function namesTenant({ parent, input }: DescMethod): boolean {
  return parent.typeName === Tenancy.typeName || "tenantId" in input.field;
}

/**
 * The tenant of a request. Requests of tenancy name it by its id. Undefined if the request names
 * none, which the method refuses.
 */
function tenantOf({ parent }: DescMethod, request: Message): string | undefined {
  const field = parent.typeName === Tenancy.typeName ? "id" : "tenantId";
  const tenant: unknown = Reflect.get(request, field);
  return typeof tenant === "string" && tenant !== "" ? tenant : undefined;
}
