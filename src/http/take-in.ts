import type { IncomingMessage } from "node:http";
import { Transform } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";

import { errorOf } from "../base/error.ts";
import type { TenantId } from "../base/tuple.ts";
import type { Intake } from "../intake/intake.ts";
import { largeBytes, probes } from "../intake/intake.ts";
import { Pieces } from "../intake/pieces.ts";
import type { Shares } from "../intake/shares.ts";
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
    countPieces(request.raw);
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
      if (!isHeld) return undefined;
      const holdMore = (): void => {
        if (isHeld) held += more;
        else intake.bytes.giveBack(owner, more);
      };
      const taken = intake.bytes.take(owner, more);
      if (taken !== undefined) return taken.then(holdMore);
      holdMore();
      return undefined;
    });
    // A pipe does not pass errors on, and the body of a client that has left has no other end.
    payload.once("error", (error) => counted.destroy(error));
    // A body that was refused has no reader, and its client may still leave.
    counted.on("error", () => undefined);
    done(null, payload.pipe(counted));
  });

  /** Whose share the body of a request uses. */
  function ownerOf(request: FastifyRequest): TenantId | undefined {
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
  { owner, amount }: { readonly owner: TenantId | undefined; readonly amount: number },
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
 * Ends the connection when a body comes in too many pieces, which no client sends that means well. An answer would
 * have the rest of them read.
 */
function countPieces(request: IncomingMessage): void {
  const pieces = new Pieces();
  request.on("data", (chunk: Buffer) => {
    if (request.destroyed) return;
    try {
      pieces.add(chunk.length);
    } catch (error) {
      request.destroy(errorOf(error));
    }
  });
}

/**
 * Passes a body of unknown length on, and gives `take` the bytes of each chunk that makes it large. A
 * chunk waits until its bytes are taken. Fails when `take` does.
 */
function counting(take: (bytes: number) => undefined | Promise<void>): Transform {
  let received = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      const pass = (): void => done(null, chunk);
      const fail = (error: unknown): void => done(errorOf(error));
      try {
        afterwards(received > largeBytes ? take(chunk.length) : undefined, pass, fail);
      } catch (error) {
        fail(error);
      }
    },
  });
}
