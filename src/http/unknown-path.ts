import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";

import { PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import { replyWithError } from "./error-reply.ts";

/** The methods that each path pattern has. */
export interface KnownPaths {
  /** Takes note of a route. */
  add(route: Pick<RouteOptions, "method" | "url">): void;
  /** Answers a request that no route matched: 405 when its path has other methods, else 404. */
  refuse(request: FastifyRequest, reply: FastifyReply): void;
}

export function knownPaths(): KnownPaths {
  const methods = new Map<string, Set<string>>();
  return {
    add({ method, url }) {
      const known = methods.get(url) ?? new Set();
      for (const name of [method].flat()) known.add(name);
      methods.set(url, known);
    },
    refuse(request, reply) {
      const path = request.url.split("?", 1)[0] ?? "";
      const allowed = [...methods]
        .filter(([pattern]) => matches(pattern, path))
        .flatMap(([, names]) => [...names]);
      if (allowed.length === 0) {
        replyWithError(new PembaError("NOT_FOUND", `no such path: ${quote(path)}`), request, reply);
        return;
      }
      const list = [...new Set(allowed)].sort().join(", ");
      void reply.header("allow", list);
      const sentence = `\`${request.method}\` is not a method of ${quote(path)}, expected ${list}`;
      replyWithError(new PembaError("METHOD_NOT_ALLOWED", sentence), request, reply);
    },
  };
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
