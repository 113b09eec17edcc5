import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ChannelCredentials, Client, Metadata } from "@grpc/grpc-js";

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

/** How long a peer has to say how it is. */
const probePatienceMs = 1_000;

/** An instance, as another one sees it. */
export class Peer {
  readonly address: string;
  readonly #client: Client;
  readonly #key: string | undefined;

  constructor(address: string, { channel, serverName, key }: PeerCredentials) {
    this.address = address;
    this.#key = key;
    this.#client = new Client(address, channel(), {
      ...(serverName !== undefined && { "grpc.ssl_target_name_override": serverName }),
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 2_000,
    });
  }

  /** The id of the instance when it serves and takes our key. Fails when it does not answer. */
  async probe(): Promise<string | undefined> {
    const { check } = Health.method;
    const { bytes, metadata } = await this.#call(pathOf(check), encodeMessage(check.input, {}), {
      deadline: Date.now() + probePatienceMs,
    });
    const { status } = decodeMessage(check.output, bytes, "the answer");
    const id = metadata.get(instanceHeader)[0]?.toString();
    return status === Status.SERVING ? id : undefined;
  }

  /** Asks a check of it. Fails in whatever way the peer, or the way to it, fails. */
  async check(
    request: MessageInitShape<typeof PermissionCheckRequestSchema>,
    options: {
      /** Of the tenant, as it was last seen here. */
      readonly head: SchemaVersion | undefined;
      readonly signal: AbortSignal | undefined;
      readonly traceparent: string | undefined;
    },
  ): Promise<CheckAnswer> {
    const { check } = Permission.method;
    const message = encodeMessage(check.input, request);
    const { bytes } = await this.#call(pathOf(check), message, options);
    const { can, metadata } = decodeMessage(check.output, bytes, "the answer");
    if (can === CheckResult.UNSPECIFIED) {
      throw new PembaError("UNAVAILABLE", `peer ${this.address} gave no answer`);
    }
    return { allowed: can === CheckResult.ALLOWED, nodes: metadata?.checkCount ?? 1 };
  }

  close(): void {
    this.#client.close();
  }

  async #call(
    path: string,
    message: Buffer,
    options: {
      readonly deadline?: number;
      readonly head?: SchemaVersion | undefined;
      readonly signal?: AbortSignal | undefined;
      readonly traceparent?: string | undefined;
    },
  ): Promise<{ readonly bytes: Buffer; readonly metadata: Metadata }> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const sent = new Metadata();
    if (this.#key !== undefined) sent.set("authorization", `Bearer ${this.#key}`);
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
