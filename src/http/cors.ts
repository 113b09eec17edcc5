import { type FastifyCorsOptionsDelegate, fastifyCors } from "@fastify/cors";
import type { FastifyRequest } from "fastify";

import type { HttpApp } from "./app.ts";

/** Which pages a browser lets ask. */
export interface CorsRules {
  /** `*` stands for every one; without any, none may. */
  readonly origins: readonly string[];
  /** The request headers that they may send; `*` stands for every one. */
  readonly headers: readonly string[];
}

/** Those of the routes, and what else a browser may try. */
const methods = ["GET", "POST", "HEAD", "PATCH", "DELETE", "PUT"];

/**
 * Answers preflights, and tells in every reply to a page, an error too, whether it may read it. To
 * be called before any other hook is added that may refuse a request: a preflight has no token.
 */
export function allowOrigins(app: HttpApp, { origins, headers }: CorsRules): void {
  if (origins.length === 0) return;
  const isForAll = origins.includes("*");
  const rules = {
    origin: isForAll ? "*" : [...origins],
    // Browsers take no credentials together with `*`.
    credentials: !isForAll,
    methods,
    // Without a list it says what the browser asks for: to browsers `*` means all but the token.
    ...(!headers.includes("*") && { allowedHeaders: [...headers] }),
  };
  const others = { ...rules, preflight: false };
  // No page asks: most clients are none, and there is nothing to tell them.
  const nobody = { origin: false };
  const delegator: FastifyCorsOptionsDelegate = (request, decided) => {
    if (request.headers.origin === undefined) decided(null, nobody);
    else decided(null, isPreflight(request) ? rules : others);
  };
  void app.register(fastifyCors, { delegator });
}

/** An OPTIONS without these is answered like any method that a path does not have. */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers["access-control-request-method"] !== undefined;
}
