import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { LookupStore, PermissionStore, Store } from "../store/store.ts";
import { observedQueue } from "./observe-turns.ts";
import type { TurnQueue } from "./turn-queue.ts";

/**
 * Limits how many permission questions of a store run at the same time. A bulk check is one
 * question, and so is each page of a lookup. Others wait in a fair queue. If too many wait,
 * questions of the tenant with the most of them fail with CONCURRENCY_LIMIT_EXCEEDED.
 */
export function limitQuestions(
  store: Store,
  limit: number,
  telemetry: Telemetry = noTelemetry,
): Store {
  const turns = observedQueue(telemetry, "questions", {
    running: limit,
    working: "permission questions are being worked on (`service.permission.concurrency_limit`)",
  });
  return {
    ...store,
    permissions: limitPermissions(store.permissions, turns),
    lookups: limitLookups(store.lookups, turns),
  };
}

function limitPermissions(permissions: PermissionStore, turns: TurnQueue): PermissionStore {
  return {
    check: (tenant, question) =>
      turns.run(tenant, question.signal, () => permissions.check(tenant, question)),
    subjectPermissions: async (tenant, question) =>
      await turns.run(tenant, question.signal, () =>
        permissions.subjectPermissions(tenant, question),
      ),
    expand: async (tenant, question) =>
      await turns.run(tenant, question.signal, () => permissions.expand(tenant, question)),
  };
}

function limitLookups(lookups: LookupStore, turns: TurnQueue): LookupStore {
  return {
    entities: async (tenant, question) =>
      await turns.run(tenant, question.signal, () => lookups.entities(tenant, question)),
    subjects: async (tenant, question) =>
      await turns.run(tenant, question.signal, () => lookups.subjects(tenant, question)),
  };
}
