import { randomUUID } from "node:crypto";

import type { Config } from "../config/options.ts";
import { lendTo } from "../workers/lend-to.ts";
import { Lender } from "../workers/lender.ts";
import { MeasuredWorkers } from "../workers/measured-workers.ts";
import { supervise } from "../workers/supervise.ts";
import { passOnHangup, startWorkerProcess } from "../workers/worker-process.ts";
import { flushTimeOf } from "./close-within.ts";
import { observe } from "./observe.ts";
import { firstSignal, listenForStop } from "./process-events.ts";

/** What a worker takes at most after the grace period: to close its store, and to send its telemetry. */
const endMs = 5_000;

/** What a worker takes at most to load and to listen, without its wait for the database. */
const loadMs = 60_000;

/**
 * Serves by so many worker processes, and resolves to the exit status when all have ended. This process
 * accepts connections, and asks the database nothing.
 */
export async function serveWithWorkers(
  config: Config,
  workers: number,
  warnings: readonly string[],
): Promise<number> {
  const instance = randomUUID();
  const measures = new MeasuredWorkers();
  const observation = await observe(config, { kind: "supervisor", instance, workers: measures });
  const { logger } = observation;
  for (const text of warnings) logger.warn(text);
  logger.info(`${workers} workers serve (\`server.workers\`)`);
  const lender = new Lender(config, workers);
  if (config["logger.file"] !== "") passOnHangup();
  const stop = listenForStop();
  let stoppedAt = Number.NEGATIVE_INFINITY;
  let status: number | undefined;
  try {
    status = await supervise(firstSignal(stop), {
      workers,
      warn: (fields, message) => logger.warn(fields, message),
      readyMs: config["database.start_timeout"] + loadMs,
      stopMs: config["server.grace_period"] + endMs,
      start: ({ number, isFirst, isRestart }) => {
        const worker = startWorkerProcess({
          number,
          workers,
          config,
          instance,
          listensAtOnce: isFirst,
          tellsStart: isFirst || isRestart,
        });
        lendTo(lender, worker);
        measures.joined(worker);
        return worker;
      },
      ready: () => logger.info("ready"),
      stopping: (signal) => {
        stoppedAt = performance.now();
        logger.info({ signal }, "stopping");
      },
    });
    if (Number.isFinite(stoppedAt)) logger.info("stopped");
    return status;
  } finally {
    const left = stoppedAt + config["server.grace_period"] - performance.now();
    await observation.close(flushTimeOf(left));
    if (status !== undefined && Number.isFinite(stoppedAt)) process.exit(status);
    stop.close();
  }
}
