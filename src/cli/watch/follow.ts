import { setTimeout as wait } from "node:timers/promises";

import type { Repetition, Server } from "../client/send.ts";
import { messageOf } from "../output.ts";
import { BrokenStream, eventsOf, type StreamEvent } from "./event-stream.ts";

/** In milliseconds. */
const firstDelay = 250;
const maxDelay = 10_000;

/**
 * The events of a stream of changes after a snap token, or from now on for "". A stream that breaks goes
 * on from its last token, as often as it takes. Ends with the signal. Fails with ServerRefusal, and with
 * BrokenStream if there was no connection at all.
 */
export async function* follow(
  server: Server,
  after: string,
  { onWait, signal }: Repetition,
): AsyncGenerator<StreamEvent> {
  let snapToken = after;
  let hasConnected = false;
  let delay = firstDelay;
  while (!signal.aborted) {
    try {
      for await (const event of eventsOf(server, snapToken, signal)) {
        ({ snapToken } = event);
        hasConnected = true;
        delay = firstDelay;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof BrokenStream) || !hasConnected) throw error;
      onWait(messageOf(error), delay);
    }
    // The loop ends if the signal ends the wait.
    await wait(delay, undefined, { signal }).catch(() => undefined);
    delay = Math.min(delay * 2, maxDelay);
  }
}
