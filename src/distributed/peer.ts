import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, Metadata, status } from "@grpc/grpc-js";

import { PembaError } from "../base/error.ts";
import type { SchemaVersion } from "../base/tuple.ts";
import {
  CheckResult,
  Permission,
  type PermissionCheckRequestSchema,
} from "../gen/base/v1/permission_pb.ts";
import { pathOf } from "../grpc/method-name.ts";
import { decodeMessage, encodeMessage } from "../messages/binary.ts";
import type { CheckAnswer } from "../store/store.ts";
import { headHeader, instanceHeader } from "./peer-server.ts";

/** How peers are reached and what one proves itself with. */
export interface PeerCredentials {
  /** Those of now: certificates are replaced. */
  readonly channel: () => ChannelCredentials;
  /** The name that its certificate must be for, if not its address. */
  readonly serverName: string | undefined;
  /** Of this service; undefined where none is asked for. */
  readonly key: string | undefined;
}

/** A check as a peer is asked it. */
export type PeerCheck = MessageInitShape<typeof PermissionCheckRequestSchema>;

/** How long an attempt to connect may take, in milliseconds. */
const connectMs = 1_000;

interface CallOptions {
  /** By the clock of `Date`. */
  readonly deadline?: number;
  readonly head?: SchemaVersion | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
}

/** An instance, as another one sees it. */
export class Peer {
  readonly address: string;
  readonly #credentials: PeerCredentials;
  #client: Client;
  #instance: string | undefined;
  #lateInRow = 0;

  constructor(address: string, credentials: PeerCredentials) {
    this.address = address;
    this.#credentials = credentials;
    this.#client = clientOf(address, credentials);
  }

  /** The id of the instance; undefined until it has answered a check over this connection. */
  get instance(): string | undefined {
    return this.#instance;
  }

  /** How many checks in a row were late over this connection. */
  get lateInRow(): number {
    return this.#lateInRow;
  }

  /** A check had its full time and was not answered. */
  countLate(): void {
    this.#lateInRow += 1;
  }

  /** Ends the connection. The next one uses the certificate that is valid then. */
  disconnect(): void {
    this.#client.close();
    this.#client = clientOf(this.address, this.#credentials);
    this.#instance = undefined;
    this.#lateInRow = 0;
  }

  /** Resolves to whether there is a connection, which is opened if there is none. */
  async connect(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#client.waitForReady(Date.now() + connectMs, (error) => resolve(error === undefined));
    return await promise;
  }

  /**
   * Sends a check; `head` is the head of the tenant, as this instance last saw it. Fails with the
   * gRPC error of the peer or of the connection, or with a `PembaError` if the answer is unreadable.
   */
  async check(request: PeerCheck, options: CallOptions): Promise<CheckAnswer> {
    const { check } = Permission.method;
    const message = encodeMessage(check.input, request);
    const { bytes, metadata: headers } = await this.#call(pathOf(check), message, options);
    const { can, metadata } = decodeMessage(check.output, bytes, "the answer");
    if (can === CheckResult.UNSPECIFIED) {
      throw new PembaError("UNAVAILABLE", `peer ${this.address} gave no answer`);
    }
    this.#lateInRow = 0;
    this.#instance = headers.get(instanceHeader)[0]?.toString();
    return { allowed: can === CheckResult.ALLOWED, nodes: metadata?.checkCount ?? 1 };
  }

  close(): void {
    this.#client.close();
  }

  async #call(
    path: string,
    message: Buffer,
    options: CallOptions,
  ): Promise<{ readonly bytes: Buffer; readonly metadata: Metadata }> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const sent = new Metadata();
    const { key } = this.#credentials;
    if (key !== undefined) sent.set("authorization", `Bearer ${key}`);
    if (options.traceparent !== undefined) sent.set("traceparent", options.traceparent);
    if (options.head !== undefined) sent.set(headHeader, options.head);
    let metadata = new Metadata();
    const call = this.#client.makeUnaryRequest(
      path,
      asIs,
      asIs,
      message,
      sent,
      options.deadline === undefined ? {} : { deadline: options.deadline },
      (error, bytes) => (error === null ? resolve(bytes ?? Buffer.alloc(0)) : reject(error)),
    );
    call.on("metadata", (received: Metadata) => {
      metadata = received;
    });
    const cancel = (): void => call.cancel();
    options.signal?.addEventListener("abort", cancel, { once: true });
    try {
      return { bytes: await promise, metadata };
    } finally {
      options.signal?.removeEventListener("abort", cancel);
    }
  }
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

function clientOf(address: string, { channel, serverName }: PeerCredentials): Client {
  return new Client(address, channel(), {
    ...(serverName !== undefined && { "grpc.ssl_target_name_override": serverName }),
    // A connection that is given up is not used again.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 2_000,
  });
}

const peerFaults: ReadonlySet<unknown> = new Set([
  status.UNAVAILABLE,
  status.UNAUTHENTICATED,
  status.UNIMPLEMENTED,
  status.DEADLINE_EXCEEDED,
]);

/** Whether the error is a fault of the peer or of the connection, and not of the check. */
export function isPeerFault(error: unknown): error is Error {
  return error instanceof Error && "code" in error && peerFaults.has(error.code);
}

/** Whether the peer did not answer before the deadline of the call. */
export function isLate(error: unknown): boolean {
  return isPeerFault(error) && "code" in error && error.code === status.DEADLINE_EXCEEDED;
}
