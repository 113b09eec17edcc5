import type { TenantId } from "../../base/tuple.ts";
import type { Intake } from "../../intake/intake.ts";
import type { ChangeMessage } from "../change.ts";
import type { ChangeStream } from "../store.ts";
import type { Layer } from "./layer.ts";

/**
 * Limits how many streams of changes are open. The message of a write is made for one stream in each
 * round of the event loop: for all streams at once it would hold the loop.
 */
export function limitStreams(intake: Intake): Layer {
  return {
    only: {
      "changes.follow": async (request, next) => {
        const [tenant, { signal }] = request;
        await intake.streams.take(tenant, 1);
        let isHeld = true;
        const end = (): void => {
          if (isHeld) intake.streams.giveBack(tenant, 1);
          isHeld = false;
          // A signal that combines others is kept by them as long as it has a listener.
          signal.removeEventListener("abort", end);
        };
        let stream: ChangeStream;
        try {
          stream = await next(request);
        } catch (error) {
          end();
          throw error;
        }
        // A generator that was never started does not run its `finally`.
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
        return { ...stream, messages: inSteps(stream.messages, { intake, tenant, end }) };
      },
    },
  };
}

async function* inSteps(
  messages: AsyncIterable<ChangeMessage>,
  {
    intake,
    tenant,
    end,
  }: { readonly intake: Intake; readonly tenant: TenantId; readonly end: () => void },
): AsyncGenerator<ChangeMessage> {
  try {
    for await (const message of messages) {
      await intake.largeStep(tenant);
      yield message;
    }
  } finally {
    end();
  }
}
