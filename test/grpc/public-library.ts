import { createRequire } from "node:module";

/**
 * A method of the library: unknown what it gives, as the library has types of its own. A stream
 * gives several of it.
 */
export type PublicMethod = (request: object) => Promise<unknown> | AsyncIterable<unknown>;

/** The client library that applications of this API already use. */
export type PublicClient = Readonly<
  Record<
    "permission" | "schema" | "data" | "bundle" | "tenancy" | "watch",
    Readonly<Record<string, PublicMethod>>
  >
>;

interface PublicLibrary {
  readonly grpc: {
    newClient(config: {
      readonly endpoint: string;
      readonly cert: null;
      readonly pk: null;
      readonly certChain: null;
      readonly insecure: true;
    }): PublicClient;
  };
}

/**
 * Required and not imported: the package brings its sources along, and the type checker would hold
 * them against our rules.
 */
export function connectPublicClient(endpoint: string): PublicClient {
  const library: PublicLibrary = createRequire(import.meta.url)("@permify/permify-node");
  return library.grpc.newClient({
    endpoint,
    cert: null,
    pk: null,
    certChain: null,
    insecure: true,
  });
}
