import { create } from "@bufbuild/protobuf";
import { Client, credentials, type VerifyOptions } from "@grpc/grpc-js";

import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthCheckResponseSchema,
} from "../gen/grpc/health/v1/health_pb.ts";
import { decodeMessage, encodeMessage } from "../messages/binary.ts";

/**
 * How to ask. `service` is empty for the process, or names a cluster of it as `cluster.east`. `patience` is
 * in milliseconds. Without `tls`, the connection is not encrypted.
 */
export interface AskOptions {
  readonly service: string;
  readonly patience: number;
  readonly tls?: VerifyOptions;
}

/**
 * Asks the health service at `address` (`host:port`) on this machine whether it serves. Rejects if
 * there is no answer in time.
 */
export async function askHealth(
  address: string,
  { service, patience, tls }: AskOptions,
): Promise<boolean> {
  const channel =
    tls === undefined ? credentials.createInsecure() : credentials.createSsl(null, null, null, tls);
  // The address is an IP address of this machine, but TLS needs a name.
  const client = new Client(address, channel, { "grpc.ssl_target_name_override": "localhost" });
  const { check } = Health.method;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  client.makeUnaryRequest(
    `/${check.parent.typeName}/${check.name}`,
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => bytes,
    encodeMessage(check.input, create(check.input, { service })),
    { deadline: Date.now() + patience },
    (error, bytes) => {
      if (error !== null) reject(error);
      else resolve(bytes ?? Buffer.alloc(0));
    },
  );
  try {
    const answer = decodeMessage(HealthCheckResponseSchema, await promise, "the answer");
    return answer.status === ServingStatus.SERVING;
  } finally {
    client.close();
  }
}
