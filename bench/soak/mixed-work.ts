import { must } from "../../src/base/assert.ts";
import type { Tuple } from "../../src/base/tuple.ts";
import type { Dataset, Lookup, Question } from "../../test/data/dataset.ts";
import type { BothClients } from "../clients/both.ts";
import type { Client } from "../clients/client.ts";
import { askOf } from "../measure.ts";
import { usualInTurn } from "../usual-questions.ts";

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
export function mixedWork(clients: BothClients, dataset: Dataset): MixedWork {
  const { questions } = usualInTurn(dataset);
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
  const act = async (kind: Kind, client: Client, nth: number): Promise<void> => {
    switch (kind) {
      case "check":
        await askOf(client.check, questions)(nth * 7);
        return;
      case "write":
        await client.write([tupleOf(written++)]);
        changes++;
        return;
      case "delete":
        await client.delete(tupleOf(deleted++));
        changes++;
        return;
      case "lookup entity":
        await client.lookUp(entitiesOf(questionOf(nth)), { limit: pageSize });
        return;
      case "lookup subject":
        await client.lookUp(subjectsOf(questionOf(nth)), { limit: pageSize });
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
        await act(kind, isGrpc ? clients.grpc : clients.rest, nth);
      } catch (error) {
        const text = `${name}: ${error instanceof Error ? error.message : String(error)}`;
        errors[text] = (errors[text] ?? 0) + 1;
      }
    },
    state: () => ({ kinds, errors, changes }),
  };
}

const pageSize = 100;

function entitiesOf({ entity, permission, user }: Question): Lookup {
  return { kind: "entities", entityType: entity.type, permission, user };
}

function subjectsOf({ entity, permission }: Question): Lookup {
  return { kind: "subjects", entity, permission };
}
