import { setTimeout as wait } from "node:timers/promises";

import type { SnapToken } from "../../src/base/tuple.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { connectBoth } from "../clients/both.ts";
import type { Pins, Transport } from "../clients/client.ts";
import type { Ask } from "../measure.ts";
import { processorSeconds } from "../processor-time.ts";
import { type InstanceServing, serveInstance } from "../serving.ts";
import { readMeasures } from "./measures.ts";

/** Several `pemba serve` over one database, with clients of each. */
export interface Instances extends Readonly<Record<Transport, readonly Ask[]>> {
  /** What they have counted since they were started. */
  readonly counted: () => Promise<Counted>;
  readonly stop: () => Promise<void>;
}

/** Of all instances together. */
export interface Counted {
  /** Checks of a named state that were found in the cache of an instance, and those that were not. */
  readonly hits: number;
  readonly misses: number;
  /** Checks that were sent to another instance, by what came of them. */
  readonly answered: number;
  readonly failed: number;
  readonly late: number;
  readonly statements: number;
  readonly processorSeconds: number;
}

/** How many there are. */
const instanceCount = 3;

/** As many as the database of a small machine has room for, with two times three instances. */
const connectionsEach = "10";

const joinMaxMs = 30_000;

/**
 * Starts the instances; resolves once they know each other, when they share checks. All checks are of
 * the state that `snapToken` names, and each instance keeps `kept` answers.
 */
export async function startInstances(
  url: string,
  options: {
    readonly isDistributed: boolean;
    readonly kept: number;
    readonly snapToken: SnapToken;
    /** Checks in flight at one instance, at most. */
    readonly callers: number;
  },
): Promise<Instances> {
  const servings = await serveAll(url, options);
  if (options.isDistributed) await Promise.all(servings.map(joined));
  const clients = servings.map((serving) => connectBoth(serving, options.callers));
  const pins: Pins = { snapToken: options.snapToken };
  const asksOf = (transport: Transport): readonly Ask[] =>
    clients.map(
      ({ [transport]: client }) =>
        async (question) =>
          await client.check(question, pins),
    );
  return {
    rest: asksOf("rest"),
    grpc: asksOf("grpc"),
    counted: async () => await countedBy(servings),
    stop: async () => {
      await Promise.all(clients.map(async ({ close }) => await close()));
      await Promise.all(servings.map(async ({ stop }) => await stop()));
    },
  };
}

async function serveAll(
  url: string,
  { isDistributed, kept }: { readonly isDistributed: boolean; readonly kept: number },
): Promise<readonly InstanceServing[]> {
  const ports = await freePorts(instanceCount);
  const list = ports.map((port) => `127.0.0.1:${port}`).join(",");
  return await Promise.all(
    ports.map(
      async (port) =>
        await serveInstance(url, {
          SERVICE_DATABASE_MAX_CONNECTIONS: connectionsEach,
          SERVICE_SERVICE_PERMISSION_CACHE_NUMBER_OF_COUNTERS: String(kept),
          ...(isDistributed && {
            SERVICE_DISTRIBUTED_ENABLED: "true",
            SERVICE_DISTRIBUTED_ADDRESS: `static:///${list}`,
            SERVICE_DISTRIBUTED_PORT: String(port),
          }),
        }),
    ),
  );
}

async function joined({ metrics }: InstanceServing): Promise<void> {
  const end = performance.now() + joinMaxMs;
  for (;;) {
    const { sumOf } = await readMeasures(metrics);
    if (sumOf("pemba_peer_members") === instanceCount) return;
    if (performance.now() > end) throw new Error("the instances do not find each other");
    await wait(100);
  }
}

async function countedBy(servings: readonly InstanceServing[]): Promise<Counted> {
  const each = await Promise.all(servings.map(async ({ metrics }) => await readMeasures(metrics)));
  const total = (name: string, label?: string): number =>
    each.reduce((sum, { sumOf }) => sum + sumOf(name, label), 0);
  const sent = (outcome: string): number =>
    total("pemba_peer_checks_total", `outcome="${outcome}"`);
  const seconds = await Promise.all(servings.map(async ({ pid }) => await processorSeconds(pid)));
  return {
    hits: total("pemba_answer_cache_hits_total"),
    misses: total("pemba_answer_cache_misses_total"),
    answered: sent("answered"),
    failed: sent("failed"),
    late: sent("late"),
    statements: total("db_client_operation_duration_seconds_count"),
    processorSeconds: seconds.reduce((sum, one) => sum + one, 0),
  };
}
