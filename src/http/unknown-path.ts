import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";

import { PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import { suggest } from "../base/suggest.ts";
import type { HttpApp } from "./app.ts";
import { replyWithError } from "./error-reply.ts";

/** The methods of each path pattern. */
export interface KnownPaths {
  /** Registers a route. */
  add(route: Pick<RouteOptions, "method" | "url">): void;
  /** The refusal for a method and a path without a route. */
  refusalOf(method: string, path: string): PathRefusal;
}

export interface PathRefusal {
  readonly error: PembaError;
  /** The methods of the path for the `allow` header. Undefined if the path is unknown. */
  readonly allow: string | undefined;
}

/** A longer path would be cut in the message. */
const suggestedLength = 100;

export function knownPaths(): KnownPaths {
  const methods = new Map<string, Set<string>>();
  return {
    add({ method, url }) {
      // The route that answers preflights of all paths. It is no path itself.
      if (url === "*") return;
      const known = methods.get(url) ?? new Set();
      for (const name of [method].flat()) known.add(name);
      methods.set(url, known);
    },
    refusalOf(method, path) {
      // An exact pattern takes precedence: in `/v1/tenants/list`, `list` is not a tenant.
      const allowed = methods.get(path) ?? namesAt(path);
      if (allowed.size === 0) {
        const meant = suggest(path, candidates(path));
        const error = new PembaError("NOT_FOUND", `no such path: ${quote(path)}${meant}`);
        return { error, allow: undefined };
      }
      const allow = [...allowed].sort().join(", ");
      const message = `\`${method}\` is not a method of ${quote(path)}, expected ${allow}`;
      return { error: new PembaError("METHOD_NOT_ALLOWED", message), allow };
    },
  };

  /** The known paths of as many steps, for the tenant of the path. */
  function candidates(path: string): readonly string[] {
    if (path.length > suggestedLength) return [];
    const given = path.split("/");
    const patterns = [...methods.keys()].map((pattern) => pattern.split("/"));
    return patterns
      .filter(({ length }) => length === given.length)
      .map((steps) =>
        steps.map((step, nth) => (step.startsWith(":") ? (given[nth] ?? step) : step)).join("/"),
      );
  }

  function namesAt(path: string): ReadonlySet<string> {
    const found = [...methods].filter(([pattern]) => matches(pattern, path));
    return new Set(found.flatMap(([, names]) => [...names]));
  }
}

/** Refuses requests without a route, before their bodies are read. */
export function refuseUnknown(app: HttpApp, paths: KnownPaths): void {
  const refuse = (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split("?", 1)[0] ?? "";
    const { error, allow } = paths.refusalOf(request.method, path);
    if (allow !== undefined) void reply.header("allow", allow);
    replyWithError(error, request, reply);
  };
  // The framework requires a handler of its own. Requests that the hook refuses do not reach it.
  app.setNotFoundHandler(refuse);
  app.addHook("preParsing", (request, reply, _payload, done) => {
    if (request.is404) refuse(request, reply);
    else done();
  });
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const given = path.split("/");
  return (
    wanted.length === given.length &&
    wanted.every((step, index) =>
      step.startsWith(":") ? given[index] !== "" : step === given[index],
    )
  );
}
