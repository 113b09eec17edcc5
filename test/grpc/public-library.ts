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

/** Only handed back to the library. */
type Interceptor = object;

interface PublicLibrary {
  readonly grpc: {
    readonly newClient: (
      config: {
        readonly endpoint: string;
        readonly cert: Buffer | null;
        readonly pk: null;
        readonly certChain: null;
        readonly insecure: boolean;
      },
      ...interceptors: readonly Interceptor[]
    ) => PublicClient;
    readonly newAccessTokenInterceptor: (token: string) => Interceptor;
  };
}

/** What every call of a client carries, and whom it trusts. */
interface PublicAccess {
  readonly token?: string | undefined;
  /** The certificate that the one of the server rests on, as PEM. With it, the client speaks TLS. */
  readonly root?: Buffer;
}

/**
 * Connects the library. It is required and not imported: the package brings its sources along, and the type
 * checker would hold them against our rules.
 */
export function connectPublicClient(
  endpoint: string,
  { token, root }: PublicAccess = {},
): PublicClient {
  const library: PublicLibrary = createRequire(import.meta.url)("@permify/permify-node");
  const { newClient, newAccessTokenInterceptor } = library.grpc;
  const cert = root ?? null;
  const config = { endpoint, cert, pk: null, certChain: null, insecure: cert === null } as const;
  return token === undefined
    ? newClient(config)
    : newClient(config, newAccessTokenInterceptor(token));
}
