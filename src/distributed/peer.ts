import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, Metadata, status } from "@grpc/grpc-js";

import { PembaError } from "../base/error.ts";
import type { SchemaVersion } from "../base/tuple.ts";
import {
  CheckResult,
  Permission,
  type PermissionCheckRequestSchema,
} from "../gen/base/v1/permission_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../gen/grpc/health/v1/health_pb.ts";
import { decodeMessage, encodeMessage } from "../grpc/message.ts";
import { pathOf } from "../grpc/method-name.ts";
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

/** How long a peer has to say how it is, in milliseconds. */
export const probePatienceMs = 1_000;

interface CallOptions {
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
  #owed: PeerCheck | undefined;

  constructor(address: string, credentials: PeerCredentials) {
    this.address = address;
    this.#credentials = credentials;
    this.#client = clientOf(address, credentials);
  }

  /** Reaches it anew, with credentials of now. */
  renew(): void {
    this.#client.close();
    this.#client = clientOf(this.address, this.#credentials);
  }

  /** It was asked this, and others have answered it in its place: `probe` asks it again. */
  owes(request: PeerCheck): void {
    this.#owed = request;
  }

  /**
   * The id of the instance when it serves, takes our key, and answers what it owes. Fails when it does
   * not answer.
   */
  async probe(): Promise<string | undefined> {
    const { check } = Health.method;
    const { bytes, metadata } = await this.#call(pathOf(check), encodeMessage(check.input, {}), {
      deadline: Date.now() + probePatienceMs,
    });
    const health = decodeMessage(check.output, bytes, "the answer");
    const id = metadata.get(instanceHeader)[0]?.toString();
    if (health.status !== Status.SERVING) return undefined;
    if (this.#owed !== undefined) await this.#askAgain(this.#owed);
    return id;
  }

  /** An error is an answer, too. */
  async #askAgain(request: PeerCheck): Promise<void> {
    try {
      await this.check(request, { deadline: Date.now() + probePatienceMs });
    } catch (error) {
      if (isOfPeer(error)) throw error;
    }
    this.#owed = undefined;
  }

  /**
   * Asks a check of it; `head` is that of the tenant, as it was last seen here. Fails in whatever way
   * the peer, or the way to it, fails.
   */
  async check(request: PeerCheck, options: CallOptions): Promise<CheckAnswer> {
    const { check } = Permission.method;
    const message = encodeMessage(check.input, request);
    const { bytes } = await this.#call(pathOf(check), message, options);
    const { can, metadata } = decodeMessage(check.output, bytes, "the answer");
    if (can === CheckResult.UNSPECIFIED) {
      throw new PembaError("UNAVAILABLE", `peer ${this.address} gave no answer`);
    }
    this.#owed = undefined;
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
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 2_000,
  });
}

const ofPeer: ReadonlySet<unknown> = new Set([
  status.UNAVAILABLE,
  status.UNAUTHENTICATED,
  status.UNIMPLEMENTED,
  status.DEADLINE_EXCEEDED,
]);

/** Whether the peer failed, and not what it was asked. */
export function isOfPeer(error: unknown): boolean {
  return error instanceof Error && "code" in error && ofPeer.has(error.code);
}
