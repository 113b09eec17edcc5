import type { Telemetry } from "../../base/telemetry.ts";
import type { TenantId } from "../../base/tuple.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import type { AnswerCacheLimits } from "../layer/answer-cache.ts";
import { batchChecks } from "../layer/batch-checks.ts";
import { cacheAnswers } from "../layer/cache-answers.ts";
import type { Layer } from "../layer/layer.ts";
import type { Layers } from "../layer/order.ts";
import type { SingleCheck } from "../single-check.ts";
import type { PostgresPermissions } from "./checks/check.ts";
import { StateQuestions } from "./checks/state-questions.ts";
import { TailReads } from "./checks/tail-reads.ts";
import { AnswerFootprints } from "./questions/answer-footprints.ts";
import type { Reads } from "./replicas/reads.ts";
import type { SnapTokens } from "./token/snap-token.ts";

/** Which layers stand around checks; each is left out when its option is absent. */
export interface CheckLayers {
  /**
   * How many checks are asked of each server, each alone, before others wait to be asked together; and
   * for how many states it is asked before others wait.
   */
  readonly slots?: number | undefined;
  /** How many answers are kept. */
  readonly cache?: AnswerCacheLimits | undefined;
}

interface CheckLayerParts {
  readonly permissions: PostgresPermissions;
  readonly reads: Reads;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  /** To each server. */
  readonly maxConnections: number;
  /** How many there are to ask now. */
  readonly servers: () => number;
  readonly telemetry: Telemetry;
}

/** The layers that the options ask for. */
export function checkLayers(parts: CheckLayerParts, { slots, cache }: CheckLayers): Layers {
  const { permissions, schemas, maxConnections, servers, telemetry } = parts;
  return {
    answerCache: cache && answerCache(parts, cache, slots ?? maxConnections),
    batching:
      slots === undefined
        ? undefined
        : batchChecks(permissions, {
            slots,
            runningMax: maxConnections,
            servers,
            isLocal: (tenant, check) => isLocal(schemas, tenant, check),
            telemetry,
          }),
  };
}

function isLocal(
  schemas: CompiledSchemas,
  tenant: TenantId,
  { item, question }: SingleCheck,
): boolean {
  const known = schemas.known(tenant, question.schemaVersion);
  const node = known?.compiled.network.byName.get(item.entity.type)?.get(item.permission);
  return node?.isLocal === true;
}

/** How much of the memory for answers is for tails. */
const tailShare = 0.2;

function answerCache(
  { reads, schemas, tokens, servers, telemetry }: CheckLayerParts,
  limits: AnswerCacheLimits,
  slots: number,
): Layer {
  const states = new StateQuestions({ reads, schemas, tokens, slots, servers });
  const maxBytes = Math.ceil(limits.maxBytes * (1 - tailShare));
  const tailBytes = limits.maxBytes - maxBytes;
  const tails = new TailReads({ reads, maxBytes: tailBytes, statementsMax: slots });
  const present = { tails, footprints: new AnswerFootprints(schemas) };
  return cacheAnswers({ states, schemas, limits: { ...limits, maxBytes }, telemetry, present });
}
