import { setTimeout as wait } from "node:timers/promises";

import { PembaError } from "../base/error.ts";
import {
  Health,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../gen/grpc/health/v1/health_pb.ts";
import type { Service } from "../service/service.ts";
import { type ServedMethod, serverStreaming, unary } from "./method.ts";

/** How often a watched state is looked at. */
const probeInterval = 2_000;

type State = Pick<HealthCheckResponse, "status">;

/** The state of the process, whichever service is asked for: they stand and fall together. */
export function healthMethods(service: Service): readonly ServedMethod[] {
  return [
    unary(Health.method.check, async () => await stateOf(service)),
    serverStreaming(Health.method.watch, (_request, { signal }) => states(service, signal)),
  ];
}

async function stateOf({ health }: Service): Promise<State> {
  return {
    status: (await health.serving()) ? ServingStatus.SERVING : ServingStatus.NOT_SERVING,
  };
}

/** The state now and at every change; the last one comes when the process is about to stop. */
async function* states(service: Service, signal: AbortSignal): AsyncGenerator<State> {
  const { draining } = service.health;
  const interrupted = AbortSignal.any([signal, draining]);
  let last: State | undefined;
  while (!signal.aborted) {
    const isLast = draining.aborted;
    const state = await stateOf(service);
    if (state.status !== last?.status) yield state;
    if (isLast) throw new PembaError("UNAVAILABLE", "the server is stopping");
    last = state;
    await wait(probeInterval, undefined, { signal: interrupted }).catch(() => undefined);
  }
}
