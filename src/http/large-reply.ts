import type { FastifyReply } from "fastify";

import { cancelled } from "../base/error.ts";
import { jsonInSteps } from "../base/json-steps.ts";
import { runInSlices } from "../base/time-slice.ts";
import { clientGone } from "./client-gone.ts";

/** Sends an answer that may have megabytes. It is written as JSON in time slices. */
export async function replyInSlices(reply: FastifyReply, answer: unknown): Promise<FastifyReply> {
  const signal = clientGone(reply);
  const bytes = await runInSlices(jsonInSteps(answer), signal);
  // The time of a request may be over, and the error sent.
  if (signal.aborted) throw cancelled(undefined);
  return reply.type("application/json; charset=utf-8").send(bytes);
}
