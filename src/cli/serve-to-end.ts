import { flushTimeOf } from "./close-within.ts";
import { complain } from "./output.ts";
import { type ServerContext, type ServerEvents, serveUntil } from "./serve.ts";

/**
 * Serves until `stop` resolves, and resolves to the exit status when all has ended and the rest of the
 * telemetry is sent. `ready` is called when it serves. Ends the process itself after a stop. Rejects as `serveUntil` does.
 */
export async function serveToEnd(
  stop: Promise<string>,
  context: ServerContext,
  ready: ServerEvents["ready"],
): Promise<number> {
  const { config, observation } = context;
  let stoppedAt = Number.NEGATIVE_INFINITY;
  let status: number | undefined;
  try {
    const problem = await serveUntil(stop, context, {
      ready,
      stopping: () => {
        stoppedAt = performance.now();
      },
    });
    status = problem === undefined ? 0 : complain(problem);
    return status;
  } finally {
    const left = stoppedAt + config["server.grace_period"] - performance.now();
    await observation.close(flushTimeOf(left));
    // Work that hangs at this point leaves nothing half done: a connection that does not answer, or
    // a migration at the start.
    if (status !== undefined && Number.isFinite(stoppedAt)) process.exit(status);
  }
}
