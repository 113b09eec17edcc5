import assert from "node:assert/strict";

import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type Logger, pino } from "pino";

import type { Admission } from "../../src/auth/admission.ts";
import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import { buildGrpcServer } from "../../src/grpc/server.ts";
import type { Service } from "../../src/service/service.ts";
import { admitAll } from "./admit-all.ts";

/** A server on a free port of this machine, and a client of it. */
export interface GrpcApp {
  readonly port: number;
  readonly client: GrpcClient;
  close(): Promise<void>;
}

type Typed<I extends DescMessage, O extends DescMessage> = DescMethod & {
  readonly input: I;
  readonly output: O;
};

/** What ends a call before its answer; a deadline is in milliseconds of the clock. */
export interface CallLimits {
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}

/** Calls over a real connection; one that fails rejects with a `ServiceError`. */
export interface GrpcClient {
  call<I extends DescMessage, O extends DescMessage>(
    method: Typed<I, O> & { readonly methodKind: "unary" },
    request: MessageInitShape<I>,
    options?: CallLimits,
  ): Promise<MessageShape<O>>;
  /** The bytes of a request as they are, to a path. */
  send(path: string, bytes: Uint8Array): Promise<Buffer>;
  /** The answers of a stream; leaving the loop cancels the call. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: Typed<I, O> & { readonly methodKind: "server_streaming" },
    request: MessageInitShape<I>,
    options?: Pick<CallLimits, "signal">,
  ): AsyncGenerator<MessageShape<O>>;
  /** One answer for each question. */
  converse<I extends DescMessage, O extends DescMessage>(
    method: Typed<I, O> & { readonly methodKind: "bidi_streaming" },
    requests: readonly MessageInitShape<I>[],
  ): Promise<readonly MessageShape<O>[]>;
  close(): void;
}

export async function serveGrpc(
  service: Service,
  admission: Admission = admitAll,
  telemetry: Telemetry = noTelemetry,
  logger: Logger = pino({ level: "silent" }),
): Promise<GrpcApp> {
  const server = buildGrpcServer({ service, admission, logger, telemetry });
  const port = await server.listen({ host: "127.0.0.1", port: 0 });
  const client = connectGrpc(`127.0.0.1:${port}`);
  return {
    port,
    client,
    close: async () => {
      client.close();
      await server.close();
    },
  };
}

/** What a client shows of itself, and what it expects of the server. */
export interface Identity {
  /** The header that goes with every call. */
  readonly authorization?: string;
  /** Expects TLS, with a certificate that rests on this one (PEM). */
  readonly root?: Buffer;
  /** The trace that its calls are part of. */
  readonly traceparent?: string;
  /** Whether it shares no connection with other clients of this process. */
  readonly isAlone?: boolean;
}

export function connectGrpc(
  address: string,
  { authorization, root, traceparent, isAlone = false }: Identity = {},
): GrpcClient {
  const client = new Client(
    address,
    root === undefined ? credentials.createInsecure() : credentials.createSsl(root),
    isAlone ? { "grpc.use_local_subchannel_pool": 1 } : {},
  );
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set("authorization", authorization);
  if (traceparent !== undefined) metadata.set("traceparent", traceparent);
  const send = async (
    path: string,
    bytes: Uint8Array,
    { deadline, signal }: CallLimits,
  ): Promise<Buffer> =>
    await new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest<Uint8Array, Buffer>(
        path,
        (value) => Buffer.from(value),
        (value) => value,
        bytes,
        metadata,
        deadline === undefined ? {} : { deadline },
        (error, answer) =>
          answer === undefined ? reject(error ?? new Error("no answer")) : resolve(answer),
      );
      signal?.addEventListener("abort", () => call.cancel());
    });
  return {
    send: async (path, bytes) => await send(path, bytes, {}),
    call: async (method, request, options = {}) => {
      const bytes = toBinary(method.input, create(method.input, request));
      return fromBinary(method.output, await send(pathOf(method), bytes, options));
    },
    stream: async function* (method, request, { signal } = {}) {
      const call = client.makeServerStreamRequest(
        pathOf(method),
        (value: Uint8Array) => Buffer.from(value),
        (bytes: Buffer) => fromBinary(method.output, bytes),
        toBinary(method.input, create(method.input, request)),
        metadata,
      );
      signal?.addEventListener("abort", () => call.cancel());
      try {
        yield* call;
      } finally {
        call.cancel();
      }
    },
    converse: async (method, requests) => {
      const call = client.makeBidiStreamRequest(
        pathOf(method),
        (value: Uint8Array) => Buffer.from(value),
        (bytes: Buffer) => fromBinary(method.output, bytes),
        metadata,
      );
      for (const request of requests) {
        call.write(toBinary(method.input, create(method.input, request)));
      }
      call.end();
      return await call.toArray();
    },
    close: () => client.close(),
  };
}

/** How a call ended that must fail. */
export async function failure(
  call: Promise<unknown>,
): Promise<Pick<ServiceError, "code" | "details">> {
  const { code, details } = await serviceError(call);
  return { code, details };
}

/** The error of a call that must fail, with what came beside its status. */
export async function serviceError(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    assert.ok(isServiceError(error), String(error));
    return error;
  }
  return assert.fail("the call did not fail");
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}
