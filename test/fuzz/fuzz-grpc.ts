import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type Client, type ClientReadableStream, Metadata, status } from "@grpc/grpc-js";
import fc from "fast-check";

import { Bundle } from "../../src/gen/base/v1/bundle_pb.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import type { KnownValues } from "../reference/arbitrary-request.ts";
import { arbitraryBytes, Messages } from "./arbitrary-message.ts";
import type { Findings } from "./findings.ts";

const services: readonly DescService[] = [
  Permission,
  Schema,
  Data,
  Bundle,
  Tenancy,
  Watch,
  Health,
  ServerReflection,
];

/** What is never a client's fault. */
const faults: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
  status.DEADLINE_EXCEEDED,
]);

/** After so many milliseconds without an answer a call is taken to hang. */
const patience = 30_000;

/** So many messages of a stream are enough. */
const messagesMax = 20;

interface Call {
  readonly method: DescMethod;
  readonly bytes: Buffer;
}

/** Messages to the methods of all services. */
export function arbitraryCall(known: KnownValues): fc.Arbitrary<Call> {
  const messages = new Messages(known);
  const methods = services.flatMap((service) => service.methods);
  return fc.oneof(
    ...methods.map((method) =>
      arbitraryBytes(method.input, messages).map((bytes) => ({ method, bytes })),
    ),
  );
}

/** Makes so many calls, and says how many were answered OK. */
export async function fuzzGrpc(
  client: Client,
  arbitrary: fc.Arbitrary<Call>,
  cases: { readonly seed: number; readonly count: number },
  findings: Findings,
): Promise<number> {
  let accepted = 0;
  for (const { method, bytes } of fc.sample(arbitrary, {
    seed: cases.seed,
    numRuns: cases.count,
  })) {
    const { code, details } = await call(client, method, bytes);
    if (code === status.OK) accepted++;
    if (!faults.has(code)) continue;
    const path = pathOf(method);
    findings.add(
      `${path}: ${status[code]}`,
      `${details.slice(0, 300)}: ${bytes.length} bytes ${bytes.toString("hex").slice(0, 2_000)}`,
    );
  }
  return accepted;
}

interface Ended {
  readonly code: status;
  readonly details: string;
}

/** How a call ends; a stream that goes on is left, and has gone well. */
async function call(client: Client, method: DescMethod, bytes: Buffer): Promise<Ended> {
  const path = pathOf(method);
  const asIs = (value: Buffer): Buffer => value;
  const metadata = new Metadata();
  const options = { deadline: Date.now() + patience };
  switch (method.methodKind) {
    case "unary":
      return await new Promise((resolve) => {
        client.makeUnaryRequest(path, asIs, asIs, bytes, metadata, options, (error) => {
          resolve(error ?? { code: status.OK, details: "" });
        });
      });
    case "server_streaming":
      return await read(
        client.makeServerStreamRequest(path, asIs, asIs, bytes, metadata, options),
        method,
      );
    default: {
      const stream = client.makeBidiStreamRequest(path, asIs, asIs, metadata, options);
      stream.write(bytes);
      stream.end();
      return await read(stream, method);
    }
  }
}

async function read(stream: ClientReadableStream<Buffer>, method: DescMethod): Promise<Ended> {
  let messages = 0;
  // What waits for changes has nothing to say for now: that it began is enough.
  const isEndless = method.name === "Watch";
  stream.on("data", () => {
    messages++;
    if (messages === messagesMax || isEndless) stream.cancel();
  });
  if (isEndless) stream.once("metadata", () => setTimeout(() => stream.cancel(), 20));
  // Its status says the same.
  stream.on("error", () => {});
  const { promise, resolve } = Promise.withResolvers<Ended>();
  stream.on("status", resolve);
  const ended = await promise;
  return ended.code === status.CANCELLED ? { code: status.OK, details: "" } : ended;
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}
