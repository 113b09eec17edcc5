import type { SnapToken, Tuple } from "../../src/base/tuple.ts";
import type { Lookup, Question } from "../../test/data/dataset.ts";

/** How requests reach Pemba: as calls of the Postgres engine, or of a process over a transport. */
export const interfaces = ["engine", "rest", "grpc"] as const;

export type Interface = (typeof interfaces)[number];

/** Those of a process. */
export const transports = ["rest", "grpc"] as const;

export type Transport = (typeof transports)[number];

/** The state that a question is asked of (the present one without), and how deep it may go. */
export interface Pins {
  readonly snapToken?: SnapToken;
  readonly depth?: number;
}

/** Asks questions of the first tenant of a database. */
export interface ReadClient {
  readonly check: (question: Question, pins?: Pins) => Promise<boolean>;
  /** The ids of the first page. */
  readonly lookUp: (
    lookup: Lookup,
    page: Pins & { readonly limit: number },
  ) => Promise<readonly string[]>;
  /**
   * Opens a stream of changes after a state, which the signal ends.
   *
   * @returns the entity ids of the tuples that changed, message by message
   */
  readonly follow: (after: SnapToken, signal: AbortSignal) => AsyncIterable<readonly string[]>;
}

/** Also changes data. */
export interface Client extends ReadClient {
  readonly write: (tuples: readonly Tuple[]) => Promise<void>;
  readonly delete: (tuple: Tuple) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A filter that one tuple alone fits. */
export function filterOf({ entity, relation, subject }: Tuple) {
  return {
    entity: { type: entity.type, ids: [entity.id] },
    relation,
    subject: { type: subject.type, ids: [subject.id], relation: subject.relation },
  };
}
