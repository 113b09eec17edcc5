import { Metadata } from "@grpc/grpc-js";

import type { Header } from "./target.ts";

/** Headers as HTTP exporters take them. */
export function headersOf(headers: readonly Header[]): Record<string, string> {
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]));
}

/** Headers as gRPC exporters take them. */
export function metadataOf(headers: readonly Header[]): Metadata {
  const metadata = new Metadata();
  for (const { name, value } of headers) metadata.set(name, value);
  return metadata;
}
