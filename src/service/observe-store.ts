import type { Telemetry } from "../base/telemetry.ts";
import type { ChangeMessage } from "../store/change.ts";
import type {
  ChangeStore,
  CheckAnswer,
  DataStore,
  LookupPage,
  LookupStore,
  PermissionStore,
  Store,
} from "../store/store.ts";

/** The questions by their names in metrics. */
type Question =
  | "check"
  | "bulk_check"
  | "subject_permission"
  | "expand"
  | "lookup_entity"
  | "lookup_subject";

/** Wraps a store to record its questions, their answers and their cost. */
export function observeStore(store: Store, telemetry: Telemetry): Store {
  if (!telemetry.isOn) return store;
  return {
    ...store,
    permissions: observePermissions(store.permissions, telemetry),
    lookups: observeLookups(store.lookups, telemetry),
    data: observeData(store.data, telemetry),
    changes: observeChanges(store.changes, telemetry),
  };
}

function observePermissions(permissions: PermissionStore, telemetry: Telemetry): PermissionStore {
  return {
    check: async (tenant, question) => {
      const name = question.items.length === 1 ? "check" : "bulk_check";
      const work = async () => await permissions.check(tenant, question);
      const answers = await tallied(telemetry, name, work);
      recordAnswers(telemetry, name, answers);
      return answers;
    },
    subjectPermissions: async (tenant, question) => {
      const name = "subject_permission";
      const work = async () => await permissions.subjectPermissions(tenant, question);
      const answers = await tallied(telemetry, name, work);
      recordAnswers(telemetry, name, [...answers.values()]);
      return answers;
    },
    expand: async (tenant, question) =>
      await tallied(telemetry, "expand", async () => await permissions.expand(tenant, question)),
  };
}

function observeLookups(lookups: LookupStore, telemetry: Telemetry): LookupStore {
  return {
    entities: async (tenant, question) => {
      const work = async () => await lookups.entities(tenant, question);
      const page = await tallied(telemetry, "lookup_entity", work);
      recordPage(telemetry, "lookup_entity", page);
      return page;
    },
    subjects: async (tenant, question) => {
      const work = async () => await lookups.subjects(tenant, question);
      const page = await tallied(telemetry, "lookup_subject", work);
      recordPage(telemetry, "lookup_subject", page);
      return page;
    },
  };
}

function observeData(data: DataStore, telemetry: Telemetry): DataStore {
  return {
    write: async (tenant, written) => {
      const { tuples, attributes } = written;
      telemetry.record("pemba.write.size", tuples.length + attributes.length, {});
      return await data.write(tenant, written);
    },
    delete: async (tenant, filters) => await data.delete(tenant, filters),
    readTuples: async (tenant, read) =>
      await telemetry.tallied("read_tuples", async () => await data.readTuples(tenant, read)),
    readAttributes: async (tenant, read) =>
      await telemetry.tallied(
        "read_attributes",
        async () => await data.readAttributes(tenant, read),
      ),
  };
}

function observeChanges(changes: ChangeStore, telemetry: Telemetry): ChangeStore {
  return {
    follow: async (tenant, from) => {
      const stream = await changes.follow(tenant, from);
      return { ...stream, messages: eachTold(stream.messages, telemetry) };
    },
  };
}

async function* eachTold(
  messages: AsyncIterable<ChangeMessage>,
  telemetry: Telemetry,
): AsyncGenerator<ChangeMessage> {
  for await (const message of messages) {
    telemetry.event("changes", { changes: message.changes.length });
    yield message;
  }
}

async function tallied<T>(
  telemetry: Telemetry,
  question: Question,
  work: () => Promise<T>,
): Promise<T> {
  return await telemetry.tallied(question, async (tally) => {
    try {
      return await work();
    } finally {
      telemetry.record("pemba.question.statements", tally.statements, { question });
    }
  });
}

function recordAnswers(
  telemetry: Telemetry,
  question: Question,
  answers: readonly CheckAnswer[],
): void {
  const allowed = answers.filter((answer) => answer.allowed).length;
  const denied = answers.length - allowed;
  telemetry.record("pemba.question.items", answers.length, { question });
  if (allowed > 0) {
    telemetry.add("pemba.question.answers", allowed, { question, answer: "allowed" });
  }
  if (denied > 0) telemetry.add("pemba.question.answers", denied, { question, answer: "denied" });
}

function recordPage(telemetry: Telemetry, question: Question, { items }: LookupPage): void {
  telemetry.record("pemba.question.items", items.length, { question });
  telemetry.add("pemba.question.answers", items.length, { question, answer: "allowed" });
  telemetry.event("page", { ids: items.length });
}
