import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { LookupStore, PermissionStore, Store } from "../store/store.ts";
import { observeTurns, turnWatcher } from "./observe-turns.ts";
import { TurnQueue } from "./turn-queue.ts";

/** For each question that is worked on so many may wait. */
const waitingShare = 10;

/**
 * The same store with a limit on how many permission questions are worked on at the same time. A
 * bulk check is one question, and so is each page of a lookup. Others wait for their turn; when too
 * many do, they fail with CONCURRENCY_LIMIT_EXCEEDED.
 */
export function limitQuestions(
  store: Store,
  limit: number,
  telemetry: Telemetry = noTelemetry,
): Store {
  const waiting = limit * waitingShare;
  const turns = new TurnQueue({
    running: limit,
    waiting,
    refusal:
      `${limit} permission questions are being worked on ` +
      `(\`service.permission.concurrency_limit\`) and ${waiting} wait, retry in a second`,
    watcher: turnWatcher(telemetry, "questions"),
  });
  observeTurns(telemetry, "questions", () => turns.state);
  return {
    ...store,
    permissions: limitPermissions(store.permissions, turns),
    lookups: limitLookups(store.lookups, turns),
  };
}

function limitPermissions(permissions: PermissionStore, turns: TurnQueue): PermissionStore {
  return {
    check: async (tenant, question) =>
      await turns.run(question.signal, () => permissions.check(tenant, question)),
    subjectPermissions: async (tenant, question) =>
      await turns.run(question.signal, () => permissions.subjectPermissions(tenant, question)),
    expand: async (tenant, question) =>
      await turns.run(question.signal, () => permissions.expand(tenant, question)),
  };
}

function limitLookups(lookups: LookupStore, turns: TurnQueue): LookupStore {
  return {
    entities: async (tenant, question) =>
      await turns.run(question.signal, () => lookups.entities(tenant, question)),
    subjects: async (tenant, question) =>
      await turns.run(question.signal, () => lookups.subjects(tenant, question)),
  };
}
