import { setTimeout as wait } from "node:timers/promises";

import { PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import {
  Health,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../gen/grpc/health/v1/health_pb.ts";
import { type MessageMethod, serverStreaming, unary } from "../messages/method.ts";
import type { Service } from "../service/service.ts";

/** How often a watched state is checked, in milliseconds. */
const probeInterval = 2_000;

type HealthState = Pick<HealthCheckResponse, "status">;

/** Before the name of a cluster, where a request has the name of a service. */
const clusterPrefix = "cluster.";

/**
 * The health methods. All services have the state of the process. With several clusters, each of them is a
 * service of its own, such as `cluster.east`.
 */
export function healthMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Health.method.check, async (request) => {
      const state = await stateOf(service, request.service);
      if (state.status !== ServingStatus.SERVICE_UNKNOWN) return state;
      throw new PembaError("NOT_FOUND", `service: ${quote(request.service)} is no cluster`);
    }),
    serverStreaming(Health.method.watch, async (request, { signal }) =>
      states(service, request.service, signal),
    ),
  ];
}

async function stateOf({ health }: Service, asked: string): Promise<HealthState> {
  const clusters = asked.startsWith(clusterPrefix) ? await health.clusters() : undefined;
  if (clusters === undefined) return stateFor(await health.serving());
  const isAnswering = clusters.get(asked.slice(clusterPrefix.length));
  return isAnswering === undefined
    ? { status: ServingStatus.SERVICE_UNKNOWN }
    : stateFor(isAnswering && !health.draining.aborted);
}

function stateFor(isServing: boolean): HealthState {
  return { status: isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING };
}

/**
 * Yields the current state and every change. The last one comes when the process is about to stop.
 */
async function* states(
  service: Service,
  asked: string,
  signal: AbortSignal,
): AsyncGenerator<readonly HealthState[]> {
  const { draining } = service.health;
  const interrupted = AbortSignal.any([signal, draining]);
  let last: HealthState | undefined;
  while (!signal.aborted) {
    const isLast = draining.aborted;
    const state = await stateOf(service, asked);
    if (state.status !== last?.status) yield [state];
    if (isLast) throw new PembaError("UNAVAILABLE", "the server is stopping");
    last = state;
    await wait(probeInterval, undefined, { signal: interrupted }).catch(() => undefined);
  }
}
