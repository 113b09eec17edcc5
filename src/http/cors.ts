import { type FastifyCorsOptionsDelegate, fastifyCors } from "@fastify/cors";
import type { FastifyRequest } from "fastify";

import type { HttpApp } from "./app.ts";

/** The pages that may call the API from a browser. */
export interface CorsRules {
  /** `*` means all. An empty list means none. */
  readonly origins: readonly string[];
  /** The request headers that pages may send. `*` means all. */
  readonly headers: readonly string[];
}

/** The methods of the routes, and others that a browser may try. */
const methods = ["GET", "POST", "HEAD", "PATCH", "DELETE", "PUT"];

/**
 * Answers preflights, and adds the CORS headers to every reply to a page, including errors. Must be
 * called before hooks that can refuse a request, because a preflight has no token.
 */
export function allowOrigins(app: HttpApp, { origins, headers }: CorsRules): void {
  if (origins.length === 0) return;
  const isForAll = origins.includes("*");
  const rules = {
    origin: isForAll ? "*" : [...origins],
    // Browsers do not allow credentials together with `*`.
    credentials: !isForAll,
    methods,
    // Without a list, the requested headers are echoed: for browsers `*` does not include the
    // token.
    ...(!headers.includes("*") && { allowedHeaders: [...headers] }),
  };
  const others = { ...rules, preflight: false };
  // No header for requests without an origin, because most clients are not browsers.
  const noHeaders = { origin: false };
  const delegator: FastifyCorsOptionsDelegate = (request, decided) => {
    if (request.headers.origin === undefined) decided(null, noHeaders);
    else decided(null, isPreflight(request) ? rules : others);
  };
  void app.register(fastifyCors, { delegator });
}

/** An OPTIONS request without these headers is treated as an unsupported method. */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers["access-control-request-method"] !== undefined;
}
