import { messageOf } from "../output.ts";

/** A running server, and the tenant that is asked. */
export interface Server {
  /** Without a slash at its end. */
  readonly url: string;
  readonly tenant: string;
  readonly token: string | undefined;
}

/** A request of the REST interface. */
export interface ServerRequest {
  readonly method: "POST" | "DELETE";
  /** From `/v1` on. */
  readonly path: string;
  /** JSON. Undefined for none. */
  readonly body: string | undefined;
}

export type ServerAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** What the server says of an error, after the URL. */
      readonly message: string;
      /** The parsed JSON. Undefined if there is none. */
      readonly body: unknown;
      /** Milliseconds. */
      readonly retryAfter: number | undefined;
    }
  | { readonly kind: "none"; readonly message: string };

/** In milliseconds. */
const requestTimeout = 60_000;

/** The path of what a tenant has, such as `data/write`. */
export function tenantPath({ tenant }: Server, rest: string): string {
  return `/v1/tenants/${encodeURIComponent(tenant)}/${rest}`;
}

/** Sends one request, once. */
export async function send(server: Server, request: ServerRequest): Promise<ServerAnswer> {
  const url = `${server.url}${request.path}`;
  try {
    const response = await fetch(url, {
      method: request.method,
      headers: {
        ...(request.body !== undefined && { "content-type": "application/json" }),
        ...(server.token !== undefined && { authorization: `Bearer ${server.token}` }),
      },
      ...(request.body !== undefined && { body: request.body }),
      signal: AbortSignal.timeout(requestTimeout),
    });
    const json = parsed(await response.text());
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    return {
      kind: "answer",
      status: response.status,
      message: `${url}: ${serverMessageOf(json) ?? `status ${response.status}`}`,
      body: json,
      retryAfter: Number.isFinite(seconds) ? seconds * 1_000 : undefined,
    };
  } catch (error) {
    return { kind: "none", message: `${url}: ${messageOf(error)}` };
  }
}

/** The message in the body of an error. */
export function serverMessageOf(body: unknown): string | undefined {
  const message = fieldOf(body, "message");
  return typeof message === "string" ? message : undefined;
}

/** The field of an unknown value. Undefined if it is no object or lacks the field. */
export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An answer without JSON does not come from Pemba. Only its status can be reported.
    return undefined;
  }
}
