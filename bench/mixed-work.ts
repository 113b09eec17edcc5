import { must } from "../src/base/assert.ts";
import type { Tuple } from "../src/base/tuple.ts";
import { Data } from "../src/gen/base/v1/data_pb.ts";
import { Permission } from "../src/gen/base/v1/permission_pb.ts";
import { askGrpc, askRest, type Clients } from "./clients.ts";
import type { Dataset, Question } from "./data/dataset.ts";
import { askOf } from "./measure.ts";
import { benchTenant } from "./store.ts";

/** What has been done so far. */
export interface MixedState {
  readonly kinds: Readonly<Record<string, number>>;
  /** How often each error came, by its text. */
  readonly errors: Readonly<Record<string, number>>;
  /** Tuples that were written and deleted. */
  readonly changes: number;
}

/** Requests of every kind, by their number. None fails: errors are counted. */
export interface MixedWork {
  readonly work: (nth: number) => Promise<void>;
  readonly state: () => MixedState;
}

type Kind = "check" | "write" | "delete" | "lookup entity" | "lookup subject";

/** Of twenty requests in a row. */
const mixture: readonly Kind[] = [
  ...Array.from({ length: 14 }, (): Kind => "check"),
  "write",
  "delete",
  "write",
  "delete",
  "lookup entity",
  "lookup subject",
];

/** Tuples that stay when as many are deleted as are written. */
const lead = 500;

/**
 * Mostly checks, whose answers are looked at; writes of a tuple each, and deletes of what was written
 * before, so that the data do not grow; lookups of a page. Over REST and gRPC in turn.
 */
export function mixedWork(clients: Clients, { classes }: Dataset): MixedWork {
  const usual = ["shallow", "nested allowed", "nested denied", "banned"];
  const questions = classes.flatMap(({ name, questions }) =>
    usual.includes(name) ? questions : [],
  );
  const checks = [
    askOf(askRest(clients.rest), questions),
    askOf(askGrpc(clients.grpc), questions),
  ] as const;
  const questionOf = (nth: number): Question =>
    must(questions[(nth * 7) % questions.length], "there are some");
  const kinds: Record<string, number> = {};
  const errors: Record<string, number> = {};
  // Of this run: what is there already changes nothing.
  const run = Date.now().toString(36);
  const tupleOf = (nth: number): Tuple => ({
    entity: { type: "document", id: `soak-${run}-${nth}` },
    relation: "owner",
    subject: { type: "user", id: `soak-${nth % 100}`, relation: "" },
  });
  let changes = 0;
  let written = 0;
  let deleted = 0;
  const act = async (kind: Kind, isGrpc: boolean, nth: number): Promise<void> => {
    switch (kind) {
      case "check":
        await checks[isGrpc ? 1 : 0](nth * 7);
        return;
      case "write":
        await (isGrpc ? writeOverGrpc : writeOverRest)(clients, tupleOf(written++));
        changes++;
        return;
      case "delete":
        await (isGrpc ? deleteOverGrpc : deleteOverRest)(clients, tupleOf(deleted++));
        changes++;
        return;
      case "lookup entity":
        await (isGrpc ? entitiesOverGrpc : entitiesOverRest)(clients, questionOf(nth));
        return;
      case "lookup subject":
        await (isGrpc ? subjectsOverGrpc : subjectsOverRest)(clients, questionOf(nth));
    }
  };
  return {
    work: async (nth) => {
      const drawn = must(mixture[nth % mixture.length], "a remainder");
      const kind = drawn === "delete" && deleted + lead >= written ? "write" : drawn;
      const isGrpc = Math.floor(nth / mixture.length) % 2 === 1;
      const name = `${kind} over ${isGrpc ? "gRPC" : "REST"}`;
      kinds[name] = (kinds[name] ?? 0) + 1;
      try {
        await act(kind, isGrpc, nth);
      } catch (error) {
        const text = `${name}: ${error instanceof Error ? error.message : String(error)}`;
        errors[text] = (errors[text] ?? 0) + 1;
      }
    },
    state: () => ({ kinds, errors, changes }),
  };
}

type Write = (clients: Clients, tuple: Tuple) => Promise<void>;

const writeOverRest: Write = async ({ rest }, tuple) => {
  await rest.post("data/write", { metadata: {}, tuples: [tuple] });
};

const writeOverGrpc: Write = async ({ grpc }, tuple) => {
  await grpc.call(Data.method.write, { tenantId: benchTenant, metadata: {}, tuples: [tuple] });
};

const deleteOverRest: Write = async ({ rest }, tuple) => {
  await rest.post("data/delete", { tuple_filter: filterOf(tuple), attribute_filter: {} });
};

const deleteOverGrpc: Write = async ({ grpc }, tuple) => {
  await grpc.call(Data.method.delete, {
    tenantId: benchTenant,
    tupleFilter: filterOf(tuple),
    attributeFilter: {},
  });
};

function filterOf({ entity, relation, subject }: Tuple) {
  return {
    entity: { type: entity.type, ids: [entity.id] },
    relation,
    subject: { type: subject.type, ids: [subject.id], relation: subject.relation },
  };
}

type LookUp = (clients: Clients, question: Question) => Promise<void>;

const pageSize = 100;

const entitiesOverRest: LookUp = async ({ rest }, { entity, permission, user }) => {
  await rest.post("permissions/lookup-entity", {
    metadata: {},
    entity_type: entity.type,
    permission,
    subject: { type: "user", id: user },
    page_size: pageSize,
  });
};

const entitiesOverGrpc: LookUp = async ({ grpc }, { entity, permission, user }) => {
  await grpc.call(Permission.method.lookupEntity, {
    tenantId: benchTenant,
    metadata: {},
    entityType: entity.type,
    permission,
    subject: { type: "user", id: user },
    pageSize,
  });
};

const subjectsOverRest: LookUp = async ({ rest }, { entity, permission }) => {
  await rest.post("permissions/lookup-subject", {
    metadata: {},
    entity,
    permission,
    subject_reference: { type: "user" },
    page_size: pageSize,
  });
};

const subjectsOverGrpc: LookUp = async ({ grpc }, { entity, permission }) => {
  await grpc.call(Permission.method.lookupSubject, {
    tenantId: benchTenant,
    metadata: {},
    entity,
    permission,
    subjectReference: { type: "user" },
    pageSize,
  });
};
