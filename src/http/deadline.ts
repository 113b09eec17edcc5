import type { FastifyReply, FastifyRequest } from "fastify";

import { Caller, forCaller } from "../base/caller.ts";
import { fieldError, PembaError, unsureChange } from "../base/error.ts";
import { parseTimeout } from "../base/grpc-timeout.ts";
import { timerMs } from "../base/pause.ts";
import { quote } from "../base/quote.ts";
import type { HttpApp } from "./app.ts";
import { clientOf, giveUp, knowCallers } from "./client-gone.ts";

const header = "grpc-timeout";

/** A timer knows no shorter time: such a request would be answered or not, as it happens. */
const shortestMs = 1;

/**
 * Runs every request for its caller, and limits its duration to the header `Grpc-Timeout`: after
 * that it answers DEADLINE_EXCEEDED. As with a gRPC deadline, a change in progress may or may not
 * be made, and the answer says so.
 */
export function endAtDeadlines(app: HttpApp): void {
  knowCallers(app);
  app.addHook("onRoute", (route) => {
    const { handler } = route;
    route.handler = function (this: HttpApp, request, reply): unknown {
      const timeoutMs = timeoutOf(request);
      const waitsUntil = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
      const caller = new Caller(clientOf(reply), waitsUntil);
      const work = (): unknown => forCaller(caller, () => handler.call(this, request, reply));
      return timeoutMs === undefined ? work() : within(timeoutMs, { reply, caller }, work);
    };
  });
}

/** The error of a reply whose time is over. */
export function lateness(reply: FastifyReply): PembaError | undefined {
  const reason: unknown = reply.client?.signal.reason;
  return reason instanceof PembaError ? reason : undefined;
}

/**
 * Returns the result of the work, or fails when the time is over. A time of less than a millisecond is over
 * before the work begins. For a stream, the time includes sending.
 */
async function within(
  timeoutMs: number,
  { reply, caller }: { readonly reply: FastifyReply; readonly caller: Caller },
  work: () => unknown,
): Promise<unknown> {
  if (timeoutMs < shortestMs) {
    const over = timeIsOver(caller);
    giveUp(reply, over);
    throw over;
  }
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => {
    giveUp(reply, timeIsOver(caller));
    if (!reply.raw.headersSent) reject(lateness(reply));
  };
  const timer = setTimeout(end, timerMs(timeoutMs));
  reply.raw.once("close", () => clearTimeout(timer));
  try {
    return await Promise.race([work(), promise]);
  } catch (error) {
    throw lateness(reply) ?? error;
  }
}

function timeIsOver({ mayHaveChanged }: Caller): PembaError {
  const over = `the time in \`${header}\` is over`;
  return new PembaError("DEADLINE_EXCEEDED", mayHaveChanged ? `${over}: ${unsureChange}` : over);
}

function timeoutOf({ headers }: FastifyRequest): number | undefined {
  const text = headers[header];
  if (text === undefined) return undefined;
  const timeoutMs = parseTimeout(String(text));
  if (timeoutMs !== undefined) return timeoutMs;
  const problem = `${quote(String(text))} is not a time, expected digits and a unit, such as \`500m\``;
  throw fieldError("VALIDATION", header, problem);
}
