import { setTimeout as wait } from "node:timers/promises";

import { PembaError } from "../base/error.ts";
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

/** The health methods. All services have the state of the process. */
export function healthMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Health.method.check, async () => await stateOf(service)),
    serverStreaming(Health.method.watch, async (_request, { signal }) => states(service, signal)),
  ];
}

async function stateOf({ health }: Service): Promise<HealthState> {
  return {
    status: (await health.serving()) ? ServingStatus.SERVING : ServingStatus.NOT_SERVING,
  };
}

/**
 * Yields the current state and every change. The last one comes when the process is about to stop.
 */
async function* states(service: Service, signal: AbortSignal): AsyncGenerator<HealthState> {
  const { draining } = service.health;
  const interrupted = AbortSignal.any([signal, draining]);
  let last: HealthState | undefined;
  while (!signal.aborted) {
    const isLast = draining.aborted;
    const state = await stateOf(service);
    if (state.status !== last?.status) yield state;
    if (isLast) throw new PembaError("UNAVAILABLE", "the server is stopping");
    last = state;
    await wait(probeInterval, undefined, { signal: interrupted }).catch(() => undefined);
  }
}
