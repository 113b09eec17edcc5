import type { LargeWork } from "./large-work.ts";
import { type Around, type Layer } from "./layer.ts";
import { operations } from "./operation.ts";

/** Makes explanations and expansions as large work, also small ones: their size is known too late. */
export function limitTrees(large: LargeWork): Layer {
  const queued: Around = async (operation, request, next) =>
    await large.run(
      { tenant: operation.tenantOf(request), signal: operation.signalOf(request) },
      () => next(request),
    );
  return {
    only: {
      "permissions.explain": async (request, next) =>
        await queued(operations["permissions.explain"], request, () => next(request)),
      "permissions.expand": async (request, next) =>
        await queued(operations["permissions.expand"], request, () => next(request)),
    },
  };
}
