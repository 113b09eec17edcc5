import type { FastifyReply, FastifyRequest } from "fastify";

import type { NamedTenant } from "../base/tuple.ts";
import { holdFor } from "../intake/held.ts";
import type { Intake } from "../intake/intake.ts";
import { largeBytes, probes } from "../intake/intake.ts";
import type { Shares } from "../intake/shares.ts";
import type { HttpApp } from "./app.ts";
import { bodyLimit } from "./body.ts";
import { joinPieces } from "./join-pieces.ts";

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
    const taken =
      bytes > largeBytes && bytes <= bodyLimit
        ? hold(reply, intake.bytes, { owner: ownerOf(request), amount: bytes })
        : undefined;
    if (isOpen(request)) {
      afterwards(taken, done, done);
      return;
    }
    const tenant = tenantOf(request);
    const enter = (): void => {
      const entry = { tenant, begin: done };
      holdFor(reply.raw, () => intake.beginnings.leave(entry));
      intake.beginnings.enter(entry);
    };
    const holdRequest = (): undefined | Promise<void> =>
      hold(reply, intake.requests, { owner: tenant, amount: 1 });
    afterwards(taken === undefined ? holdRequest() : taken.then(holdRequest), enter, done);
  });
  app.addHook("preParsing", (request, reply, payload, done) => {
    if (request.headers["transfer-encoding"] === undefined) {
      const bytes = announcedBytes(request);
      const isJoined = bytes > largeBytes && bytes <= bodyLimit;
      done(null, isJoined ? joinPieces(payload) : payload);
      return;
    }
    const owner = ownerOf(request);
    let isHeld = true;
    let held = 0;
    holdFor(reply.raw, () => {
      isHeld = false;
      intake.bytes.giveBack(owner, held);
    });
    let received = 0;
    const counted = joinPieces(payload, (more) => {
      received += more;
      if (!isHeld || received <= largeBytes) return undefined;
      const holdMore = (): void => {
        if (isHeld) held += more;
        else intake.bytes.giveBack(owner, more);
      };
      const taken = intake.bytes.take(owner, more);
      if (taken !== undefined) return taken.then(holdMore);
      holdMore();
      return undefined;
    });
    done(null, counted);
  });

  /** Whose share the body of a request uses. */
  function ownerOf(request: FastifyRequest): NamedTenant | undefined {
    return isOpen(request) ? probes : tenantOf(request);
  }
}

/**
 * Takes so much of a share until the reply has gone. A client may leave while a share of several
 * processes is asked for.
 */
function hold(
  reply: FastifyReply,
  shares: Shares,
  { owner, amount }: { readonly owner: NamedTenant | undefined; readonly amount: number },
): undefined | Promise<void> {
  const taken = shares.take(owner, amount);
  const hasTaken = (): void => holdFor(reply.raw, () => shares.giveBack(owner, amount));
  if (taken !== undefined) return taken.then(hasTaken);
  hasTaken();
  return undefined;
}

/** Goes on when it is taken, at once where that is so already. */
function afterwards(
  taken: undefined | Promise<void>,
  goOn: () => void,
  failed: (error: Error) => void,
): void {
  if (taken === undefined) goOn();
  else taken.then(goOn, failed);
}

/** The tenant in the path, whether or not there is one with this id. */
export function tenantOf({ params }: FastifyRequest): NamedTenant | undefined {
  if (typeof params !== "object" || params === null || !("tenant_id" in params)) return undefined;
  return typeof params.tenant_id === "string" ? params.tenant_id : undefined;
}

/** The length of the body in bytes, as the head announces it; 0 where it announces none. */
export function announcedBytes({ headers }: FastifyRequest): number {
  return Number(headers["content-length"] ?? 0);
}
