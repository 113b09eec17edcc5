import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";

import { PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import type { HttpApp } from "./app.ts";
import { replyWithError } from "./error-reply.ts";

/** The methods that each path pattern has. */
export interface KnownPaths {
  /** Takes note of a route. */
  add(route: Pick<RouteOptions, "method" | "url">): void;
  /** What is wrong with a method and a path for which there is no route. */
  refusalOf(method: string, path: string): Refusal;
}

export interface Refusal {
  readonly error: PembaError;
  /** The methods that the path has, as the header of that name lists them; undefined for no path. */
  readonly allow: string | undefined;
}

export function knownPaths(): KnownPaths {
  const methods = new Map<string, Set<string>>();
  return {
    add({ method, url }) {
      const known = methods.get(url) ?? new Set();
      for (const name of [method].flat()) known.add(name);
      methods.set(url, known);
    },
    refusalOf(method, path) {
      // A path that a pattern names to the letter is that alone: `/v1/tenants/list` is no tenant.
      const allowed = methods.get(path) ?? namesAt(path);
      if (allowed.size === 0) {
        const error = new PembaError("NOT_FOUND", `no such path: ${quote(path)}`);
        return { error, allow: undefined };
      }
      const allow = [...allowed].sort().join(", ");
      const sentence = `\`${method}\` is not a method of ${quote(path)}, expected ${allow}`;
      return { error: new PembaError("METHOD_NOT_ALLOWED", sentence), allow };
    },
  };

  function namesAt(path: string): ReadonlySet<string> {
    const found = [...methods].filter(([pattern]) => matches(pattern, path));
    return new Set(found.flatMap(([, names]) => [...names]));
  }
}

/** Refuses requests that no route is there for, before anything of their bodies is looked at. */
export function refuseUnknown(app: HttpApp, paths: KnownPaths): void {
  const refuse = (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split("?", 1)[0] ?? "";
    const { error, allow } = paths.refusalOf(request.method, path);
    if (allow !== undefined) void reply.header("allow", allow);
    replyWithError(error, request, reply);
  };
  // The framework wants an answer of its own for these; what the hook refuses does not come here.
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
