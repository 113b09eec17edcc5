import { setTimeout as wait } from "node:timers/promises";

import {
  type Repetition,
  send,
  type Server,
  type ServerAnswer,
  type ServerRequest,
} from "./send.ts";

const maxAttempts = 8;
const firstDelay = 250;

/**
 * Sends a request until it has an answer that stays: it repeats what a busy or unreachable server
 * refuses, eight times within half a minute, or after the times that the server names. Returns the last
 * answer. Fails with the reason of the signal if that is aborted.
 */
export async function sendRepeatedly(
  server: Server,
  request: ServerRequest,
  { onWait, signal }: Repetition,
): Promise<ServerAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send(server, request, signal);
    signal.throwIfAborted();
    if (!answer.mayPass || attempt === maxAttempts) return answer;
    const requested = answer.kind === "answer" ? answer.retryAfter : undefined;
    const pause = requested ?? firstDelay * 2 ** (attempt - 1);
    onWait(answer.message, pause);
    await wait(pause, undefined, { signal });
  }
}
