import { Transform } from "node:stream";

import type { FastifyRequest } from "fastify";

import { errorOf } from "../base/error.ts";
import type { TenantId } from "../base/tuple.ts";
import type { Intake } from "../intake/intake.ts";
import { largeBytes, probes } from "../intake/intake.ts";
import type { HttpApp } from "./app.ts";
import { bodyLimit } from "./body.ts";
import { holdFor } from "./held.ts";

/**
 * Counts what each request holds, from its head until its reply has gone. A request that exceeds a
 * share fails with CONCURRENCY_LIMIT_EXCEEDED before its body is read. The others wait in a fair queue
 * until they begin. Those of open routes begin at once, and only the bytes of their bodies are counted.
 */
export function takeInRequests(
  app: HttpApp,
  intake: Intake,
  isOpen: (request: FastifyRequest) => boolean,
): void {
  app.addHook("onRequest", (request, reply, done) => {
    const bytes = announcedBytes(request);
    // A body above its own limit is refused without being read, so it holds nothing.
    if (bytes > largeBytes && bytes <= bodyLimit) {
      const owner = ownerOf(request);
      intake.bytes.take(owner, bytes);
      holdFor(reply.raw, () => intake.bytes.giveBack(owner, bytes));
    }
    if (isOpen(request)) {
      done();
      return;
    }
    const tenant = tenantOf(request);
    intake.requests.take(tenant, 1);
    const entry = { tenant, begin: done };
    holdFor(reply.raw, () => {
      intake.beginnings.leave(entry);
      intake.requests.giveBack(tenant, 1);
    });
    intake.beginnings.enter(entry);
  });
  app.addHook("preParsing", (request, reply, payload, done) => {
    if (request.headers["transfer-encoding"] === undefined) {
      done(null, payload);
      return;
    }
    const owner = ownerOf(request);
    let isHeld = true;
    let held = 0;
    holdFor(reply.raw, () => {
      isHeld = false;
      intake.bytes.giveBack(owner, held);
    });
    const counted = counting((more) => {
      if (!isHeld) return;
      intake.bytes.take(owner, more);
      held += more;
    });
    // A pipe does not pass errors on, and the body of a client that has left has no other end.
    payload.once("error", (error) => counted.destroy(error));
    done(null, payload.pipe(counted));
  });

  /** Whose share the body of a request uses. */
  function ownerOf(request: FastifyRequest): TenantId | undefined {
    return isOpen(request) ? probes : tenantOf(request);
  }
}

/** The tenant in the path, whether or not there is one with this id. */
export function tenantOf({ params }: FastifyRequest): TenantId | undefined {
  return typeof params === "object" && params !== null && "tenant_id" in params
    ? (params.tenant_id as TenantId)
    : undefined;
}

/** The length of the body in bytes, as the head announces it; 0 where it announces none. */
export function announcedBytes({ headers }: FastifyRequest): number {
  return Number(headers["content-length"] ?? 0);
}

/**
 * Passes a body of unknown length on, and gives `take` the bytes of each chunk that makes it large.
 * Fails when `take` does.
 */
function counting(take: (bytes: number) => void): Transform {
  let received = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      try {
        if (received > largeBytes) take(chunk.length);
      } catch (error) {
        done(errorOf(error));
        return;
      }
      done(null, chunk);
    },
  });
}
