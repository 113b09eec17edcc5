import { must } from "../../../base/assert.ts";
import { cancelled } from "../../../base/error.ts";
import { TenantTurns } from "../../../base/tenant-turns.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../../base/tuple.ts";
import { stateStatement } from "../../../sql/state/state-statement.ts";
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

/** Those who ask the same, and share the answer. */
interface Round {
  readonly tenant: TenantId;
  readonly key: string;
  /** Called when it is its turn. */
  readonly begin: () => void;
  readonly known: Promise<KnownState>;
  /** How many wait for it. */
  askers: number;
}

/**
 * Asks the database which state a token names and whether it may still be read, and for the head.
 * Those who ask the same while it is being asked share the question that follows, which begins after
 * all of them have come, so none gets an answer older than its question. While fewer questions run
 * than there are lanes, one goes at once; others wait, tenants in turn.
 */
export class StateQuestions {
  readonly #reads: Reads;
  readonly #schemas: CompiledSchemas;
  readonly #tokens: Pick<SnapTokens, "read">;
  readonly #lanes: number;
  readonly #servers: () => number;
  /** The keys of what runs: no more than one of a kind. */
  readonly #running = new Set<string>();
  /** What has not begun and takes others, by its key. */
  readonly #open = new Map<string, Round>();
  /** The same but for those that wait until their kind has ended. */
  readonly #waiting = new TenantTurns<Round>();

  /** `lanes`: how many questions run at each of so many `servers` before others wait. */
  constructor(parts: {
    readonly reads: Reads;
    readonly schemas: CompiledSchemas;
    readonly tokens: Pick<SnapTokens, "read">;
    readonly lanes: number;
    readonly servers: () => number;
  }) {
    this.#reads = parts.reads;
    this.#schemas = parts.schemas;
    this.#tokens = parts.tokens;
    this.#lanes = parts.lanes;
    this.#servers = parts.servers;
  }

  /**
   * Fails with TENANT_NOT_FOUND, SCHEMA_NOT_FOUND (of a pinned version), INVALID_SNAP_TOKEN,
   * SNAP_TOKEN_EXPIRED and UNAVAILABLE, and with CANCELLED when the signal aborts: what runs goes on
   * for the others.
   */
  async ask(question: StateQuestion, signal: AbortSignal | undefined): Promise<KnownState> {
    if (signal?.aborted === true) throw cancelled(undefined);
    const round = this.#roundOf(question);
    round.askers += 1;
    this.#sendWaiting();
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = (): void => reject(cancelled(undefined));
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([round.known, left]);
    } finally {
      signal?.removeEventListener("abort", leave);
      round.askers -= 1;
      if (round.askers === 0) this.#drop(round);
    }
  }

  #roundOf(question: StateQuestion): Round {
    const { tenant, snapToken, schemaVersion = "", head = "" } = question;
    const key = `${tenant} ${snapToken} ${schemaVersion} ${head}`;
    const open = this.#open.get(key);
    if (open !== undefined) return open;
    const { promise: turn, resolve: begin } = Promise.withResolvers<void>();
    const known = this.#answer(key, question, turn);
    const round: Round = { tenant, key, begin, known, askers: 0 };
    this.#open.set(key, round);
    if (!this.#running.has(key)) this.#waiting.add(round);
    return round;
  }

  /** Nobody waits for it: unless it has begun, it is not asked. */
  #drop(round: Round): void {
    if (this.#open.get(round.key) !== round) return;
    this.#open.delete(round.key);
    this.#waiting.remove(round);
  }

  #sendWaiting(): void {
    const lanes = this.#lanes * this.#servers();
    while (this.#running.size < lanes) {
      const round = this.#waiting.next();
      if (round === undefined) return;
      this.#open.delete(round.key);
      this.#running.add(round.key);
      round.begin();
    }
  }

  /** It waits here, so that it is in the trace of the first who asks. */
  async #answer(key: string, question: StateQuestion, turn: Promise<void>): Promise<KnownState> {
    await turn;
    try {
      return await this.#read(question);
    } finally {
      this.#running.delete(key);
      const next = this.#open.get(key);
      if (next !== undefined) this.#waiting.add(next);
      this.#sendWaiting();
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
