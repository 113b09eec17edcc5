import type { FastifyRequest } from "fastify";

import { errorOf } from "../base/error.ts";
import { type Intake, largeBytes } from "../intake/intake.ts";
import { countJsonValues, tooManyValues } from "../intake/values.ts";
import type { HttpApp } from "./app.ts";
import { parseBody } from "./body.ts";
import { tenantOf } from "./take-in.ts";

/** Parses every body as JSON, for any content type. A GET may have a body (tenants/list). */
export function readBodies(app: HttpApp, intake: Intake): void {
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer" },
    (request: FastifyRequest, bytes: Buffer, done): Promise<unknown> | undefined => {
      if (bytes.length > largeBytes) return readLarge(intake, request, bytes);
      try {
        done(null, parseBody(bytes));
      } catch (error) {
        done(errorOf(error));
      }
      return undefined;
    },
  );
  // Removes the content type, because a malformed one would be refused with 415.
  app.addHook("onRequest", (request, _reply, done) => {
    // Set to undefined instead of deleted, because deleting makes later reads of the headers slower.
    request.raw.headers["content-type"] = undefined;
    done();
  });
}

/**
 * Waits in the queue of large bodies, reads the body, and waits again before the request goes on. Fails
 * with VALIDATION, with PAYLOAD_TOO_LARGE when it holds too many values, and with CANCELLED when the
 * client leaves.
 */
async function readLarge(intake: Intake, request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  const tenant = tenantOf(request);
  const { socket } = request.raw;
  const client = new AbortController();
  const leave = (): void => client.abort();
  if (socket.destroyed) leave();
  socket.once("close", leave);
  try {
    await intake.largeStep(tenant, client.signal);
    const max = intake.limits.values;
    if (countJsonValues(bytes, max) > max) throw tooManyValues(max);
    const body = parseBody(bytes);
    await intake.largeStep(tenant, client.signal);
    return body;
  } finally {
    socket.off("close", leave);
  }
}
