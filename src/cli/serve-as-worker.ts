import type { Loaded } from "../config/load.ts";
import { borrowLimits } from "../workers/borrowed-limits.ts";
import { dividedConfig } from "../workers/divide-limits.ts";
import { SupervisorChannel } from "../workers/supervisor-channel.ts";
import { observe } from "./observe.ts";
import { complain, messageOf } from "./output.ts";
import { leaveStopToSupervisor } from "./process-events.ts";
import { serveToEnd } from "./serve-to-end.ts";

/**
 * Serves as the supervisor says, with a part of the limits of the instance, until it says to stop.
 * `load` reads the configuration anew. Ends the process, since the channel to the supervisor would keep it alive.
 */
export async function serveAsWorker(load: () => Loaded): Promise<never> {
  leaveStopToSupervisor();
  const channel = new SupervisorChannel();
  process.exit(await serveOn(channel, load).catch((error: unknown) => complain(messageOf(error))));
}

async function serveOn(channel: SupervisorChannel, load: () => Loaded): Promise<number> {
  const order = await channel.order;
  const config = dividedConfig(order.config, order);
  let isReady = false;
  const observation = await observe(config, {
    kind: "worker",
    number: order.number,
    instance: order.instance,
    isQuiet: () => !isReady && !order.tellsStart,
  });
  const { readMeasures } = observation;
  const tellMeasures = async (id: number | undefined): Promise<void> => {
    const measures = (await readMeasures?.()) ?? [];
    await channel.deliver({ kind: "measured", id, measures });
  };
  channel.onMessage((message) => {
    if (message.kind === "ask_alive") channel.send({ kind: "alive" });
    if (message.kind === "measure") void tellMeasures(message.id);
  });
  return await serveToEnd(
    channel.stop,
    {
      config,
      observation: {
        ...observation,
        close: async (withinMs) => {
          await tellMeasures(undefined);
          await observation.close(withinMs);
        },
      },
      load: () => {
        const loaded = load();
        if (loaded.kind === "problems") return loaded;
        return { ...loaded, config: dividedConfig(loaded.config, order) };
      },
      part: { ...order, limits: borrowLimits(channel, order.config, order.workers) },
    },
    () => {
      isReady = true;
      channel.send({ kind: "ready" });
    },
  );
}
