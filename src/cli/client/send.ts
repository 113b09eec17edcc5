import { problemOf, refusalFrom, refusalOf } from "./advice.ts";
import { fieldOf } from "./fields.ts";

/** A running server, and the tenant that is asked. */
export interface Server {
  /** Without a slash at its end. */
  readonly url: string;
  readonly tenant: string;
  readonly token: string | undefined;
  /** If it is there, requests that may succeed later are sent again. */
  readonly repetition?: Repetition;
}

/** How requests are sent again. */
export interface Repetition {
  /** Called before each wait, with the reason and the wait in milliseconds. */
  readonly onWait: (reason: string, waitMs: number) => void;
  /** Ends the waits and the requests. */
  readonly signal: AbortSignal;
}

/** A request of the REST interface. */
export interface ServerRequest {
  readonly method: "POST" | "DELETE";
  /** From `/v1` on. */
  readonly path: string;
  /** JSON. Undefined for none. */
  readonly body: string | undefined;
}

/** `mayPass`: the same request may succeed later. */
export type ServerAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly mayPass: boolean;
      /** What the server says of an error, after the URL. */
      readonly message: string;
      /** The same without the URL if it is from Pemba. */
      readonly problem: string;
      /** The parsed JSON. Undefined if there is none. */
      readonly body: unknown;
      /** Milliseconds. */
      readonly retryAfter: number | undefined;
    }
  | { readonly kind: "none"; readonly message: string; readonly mayPass: boolean };

/** In milliseconds. */
const requestTimeout = 60_000;

/** The path of what a tenant has, such as `data/write`. */
export function tenantPath({ tenant }: Server, rest: string): string {
  return `/v1/tenants/${encodeURIComponent(tenant)}/${rest}`;
}

/** Sends one request, once. */
export async function send(
  server: Server,
  request: ServerRequest,
  signal?: AbortSignal,
): Promise<ServerAnswer> {
  const url = `${server.url}${request.path}`;
  const late = AbortSignal.timeout(requestTimeout);
  try {
    const response = await fetch(url, {
      ...fetchOptions(server, request),
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const json = parsed(await response.text());
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    return {
      kind: "answer",
      status: response.status,
      mayPass: isPassingStatus(response.status),
      message: `${url}: ${refusalOf(response.status, json)}`,
      problem: refusalFrom(url, response.status, json),
      body: json,
      retryAfter: Number.isFinite(seconds) ? seconds * 1_000 : undefined,
    };
  } catch (error) {
    const message = `${url}: ${problemOf(error, url)}`;
    return { kind: "none", message, mayPass: isPassing(error) };
  }
}

/** 501 says that the configuration of the server lacks the operation. */
export function isPassingStatus(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501);
}

/** What `fetch` takes for a request, without a signal. */
export function fetchOptions(
  server: Server,
  { method, body }: ServerRequest,
): Omit<RequestInit, "headers"> & { readonly headers: Readonly<Record<string, string>> } {
  return {
    method,
    headers: {
      // The server may speak another form by default.
      "pemba-json": "documented",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(server.token !== undefined && { authorization: `Bearer ${server.token}` }),
    },
    ...(body !== undefined && { body }),
  };
}

/** Of a server that restarts, or of a network that fails for a while. */
const passingCodes: ReadonlySet<unknown> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_SOCKET",
]);

/** Not a refused certificate, a port that no client may use, or an unknown host, for example. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === "TimeoutError") return true;
  return passingCodes.has(fieldOf(error, "code")) || isPassing(error.cause);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An answer without JSON does not come from Pemba. Only its status can be reported.
    return undefined;
  }
}
