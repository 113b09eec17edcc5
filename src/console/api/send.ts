import { token } from "../app/session.ts";
import { ApiError, errorOfReply } from "./api-error.ts";

/** A request below the address of the server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Relative, so that the console also works behind a prefix. */
  readonly path: string;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request and reads its answer. Fails with an ApiError, or as the signal says. */
export async function send<T>(request: ApiRequest): Promise<T> {
  const response = await open(request);
  return (await response.json()) as T;
}

/** Sends a request. Returns the answer before its body is read. Fails as `send` does. */
export async function open({ method, path, body, signal }: ApiRequest): Promise<Response> {
  const headers = new Headers({ accept: "application/json", "pemba-json": "documented" });
  if (token.value !== "") headers.set("authorization", `Bearer ${token.value}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      // The token is all that says who asks.
      credentials: "omit",
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError("the server cannot be reached", { status: 0, code: "", details: [] });
  }
  if (!response.ok) throw errorOfReply(response.status, await response.text());
  return response;
}

/** The path of an operation of a tenant. */
export function tenantPath(tenant: string, operation: string): string {
  return `v1/tenants/${encodeURIComponent(tenant)}/${operation}`;
}
