import { must } from "../../../base/assert.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../../base/tuple.ts";
import { stateStatement } from "../../../sql/state.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import { optionalTextOf, textOf } from "../connect/row.ts";
import type { Value } from "../connect/value.ts";
import { foundRow, headOf } from "../questions/head.ts";
import type { Reads } from "../replicas/reads.ts";
import { type SnapTokens, stateValues } from "../token/snap-token.ts";

/** What a question asks about: a tenant at a state, under a version or the head. */
export interface StateQuestion {
  readonly tenant: TenantId;
  readonly snapToken: SnapToken;
  readonly schemaVersion: SchemaVersion | undefined;
  /** The head that the answer is to go with, as far as a replica may say it; undefined: any. */
  readonly head: SchemaVersion | undefined;
}

export interface KnownState {
  /** Equal for tokens that name the same state of the same tenant. */
  readonly key: string;
  /** The version in force; undefined when there is none. */
  readonly version: SchemaVersion | undefined;
}

const statements = {
  head: stateStatement({ pinnedVersion: false }),
  pinned: stateStatement({ pinnedVersion: true }),
};

interface Waiting {
  /** What runs, and what begins when it has ended. */
  readonly running: Promise<KnownState>;
  next: Promise<KnownState> | undefined;
}

/**
 * Asks the database which state a token names and whether it may still be read, and for the head.
 * Those who ask the same while it is being asked share the question that follows, which begins after
 * all of them have come, so none gets an answer older than its question.
 */
export class StateQuestions {
  readonly #reads: Reads;
  readonly #schemas: CompiledSchemas;
  readonly #tokens: SnapTokens;
  readonly #waiting = new Map<string, Waiting>();

  constructor(parts: {
    readonly reads: Reads;
    readonly schemas: CompiledSchemas;
    readonly tokens: SnapTokens;
  }) {
    this.#reads = parts.reads;
    this.#schemas = parts.schemas;
    this.#tokens = parts.tokens;
  }

  /**
   * Fails with TENANT_NOT_FOUND, SCHEMA_NOT_FOUND (of a pinned version), INVALID_SNAP_TOKEN,
   * SNAP_TOKEN_EXPIRED and UNAVAILABLE.
   */
  async ask(question: StateQuestion): Promise<KnownState> {
    const key = `${question.tenant} ${question.snapToken} ${question.schemaVersion ?? ""} ${question.head ?? ""}`;
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return await this.#begin(key, question);
    waiting.next ??= waiting.running.then(
      async () => await this.#begin(key, question),
      async () => await this.#begin(key, question),
    );
    return await waiting.next;
  }

  async #begin(key: string, question: StateQuestion): Promise<KnownState> {
    const running = this.#read(question);
    const waiting: Waiting = { running, next: undefined };
    this.#waiting.set(key, waiting);
    try {
      return await running;
    } finally {
      if (this.#waiting.get(key) === waiting && waiting.next === undefined) {
        this.#waiting.delete(key);
      }
    }
  }

  async #read({
    tenant,
    snapToken,
    schemaVersion,
    head: expected,
  }: StateQuestion): Promise<KnownState> {
    const state = this.#tokens.read(snapToken);
    const values = new Map<string, Value>([["tenant", tenant], ...stateValues(state)]);
    if (schemaVersion !== undefined) values.set("version", schemaVersion);
    const { text, params } = schemaVersion === undefined ? statements.head : statements.pinned;
    const rows = await this.#reads.read(
      text,
      params.map((param) => must(values.get(param), `the parameter ${param} has a value`)),
      { state, head: expected, signal: undefined },
    );
    const row = foundRow(this.#schemas, { tenant, schemaVersion }, true, rows[0]);
    const change = optionalTextOf(row, "last_change");
    // What was before all that is kept is the state itself.
    const shown = change === undefined ? state.snapshot : `${change}:${textOf(row, "hidden")}`;
    return {
      key: `${state.identity}:${state.timeline}:${textOf(row, "number")}:${shown}`,
      version: schemaVersion ?? headOf(row),
    };
  }
}
