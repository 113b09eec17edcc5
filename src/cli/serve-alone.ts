import type { Loaded } from "../config/load.ts";
import type { Config } from "../config/options.ts";
import { observe } from "./observe.ts";
import { firstSignal, listenForStop } from "./process-events.ts";
import { serveToEnd } from "./serve-to-end.ts";

/**
 * Serves in this process until a stop signal comes. `load` reads the configuration anew. Resolves to the
 * exit status, or ends the process with it, and rejects if the store cannot be opened.
 */
export async function serveAlone(
  config: Config,
  warnings: readonly string[],
  load: () => Loaded,
): Promise<number> {
  const observation = await observe(config);
  for (const text of warnings) observation.logger.warn(text);
  const stop = listenForStop();
  try {
    return await serveToEnd(firstSignal(stop), { config, observation, load }, () => {});
  } finally {
    stop.close();
  }
}
