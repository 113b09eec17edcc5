import type { Telemetry } from "../../../base/telemetry.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import type { PermissionStore } from "../../store.ts";
import type { Reads } from "../replicas/reads.ts";
import type { SnapTokens } from "../token/snap-token.ts";
import type { AnswerCacheLimits } from "./answer-cache.ts";
import { CachedChecks } from "./cached-checks.ts";
import { CheckBatches } from "./check-batches.ts";
import type { PostgresPermissions } from "./check.ts";
import { StateQuestions } from "./state-questions.ts";

export interface CheckLayers {
  /**
   * How many checks are asked of each server, each alone, before others wait to be asked together; and
   * for how many states it is asked before others wait.
   */
  readonly lanes?: number | undefined;
  /** How many answers of named states are kept. */
  readonly cache?: AnswerCacheLimits | undefined;
}

/** What is asked of the database, and what else the layers need of it. */
interface Parts {
  readonly permissions: PostgresPermissions;
  readonly reads: Reads;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  /** To each server. */
  readonly maxConnections: number;
  /** How many servers there are to ask now. */
  readonly servers: () => number;
  readonly telemetry: Telemetry;
}

/** The same permissions, with checks that are kept or asked together; each layer where it is wanted. */
export function layerChecks(parts: Parts, { lanes, cache }: CheckLayers): PermissionStore {
  const { permissions, maxConnections, servers, telemetry } = parts;
  const asked =
    lanes === undefined
      ? permissions
      : new CheckBatches(permissions, { lanes, runningMax: maxConnections, servers, telemetry });
  const checks =
    cache === undefined
      ? asked
      : new CachedChecks({
          ...parts,
          checks: asked,
          states: new StateQuestions({ ...parts, lanes: lanes ?? maxConnections }),
          limits: cache,
        });
  return {
    check: async (tenant, question) => await checks.check(tenant, question),
    subjectPermissions: async (tenant, question) =>
      await permissions.subjectPermissions(tenant, question),
    expand: async (tenant, question) => await permissions.expand(tenant, question),
  };
}
