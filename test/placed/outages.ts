/** Instances and servers that are killed at random, and started again. */
import { pause } from "../../src/base/pause.ts";
import { dice } from "../support/dice.ts";
import { clusterNames, type Fleet } from "./fleet.ts";

/** Between two outages of a kind, at most. */
const instanceEveryMaxMs = 8_000;
const serverEveryMaxMs = 5_000;

/** A server is away for so long, at most. */
const awayMaxMs = 1_500;

export class Outages {
  instances = 0;
  readonly servers = { immediate: 0, kill: 0 };
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Kills until the signal. All are up again when it resolves. */
  async live(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#killInstances(signal), this.#killServers(signal)]);
  }

  async #killInstances(signal: AbortSignal): Promise<void> {
    const { upTo } = dice(70_000);
    for (;;) {
      await pause(upTo(instanceEveryMaxMs), signal);
      if (signal.aborted) return;
      await this.#fleet.restartInstance(upTo(2));
      this.instances++;
    }
  }

  async #killServers(signal: AbortSignal): Promise<void> {
    const { upTo, happens } = dice(80_000);
    for (;;) {
      await pause(upTo(serverEveryMaxMs), signal);
      if (signal.aborted) return;
      const how = happens(0.5) ? "immediate" : "kill";
      await this.#fleet.restartServer(upTo(clusterNames.length), how, upTo(awayMaxMs));
      this.servers[how]++;
    }
  }
}
