import { must } from "../../../base/assert.ts";
import { cancelled } from "../../../base/error.ts";
import { FairQueue } from "../../../base/fair-queue.ts";
import { awaitShared } from "../../../base/single-flight.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { stateStatement } from "../../../sql/state/state-statement.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import type { KnownState, StateQuestion, StateReader } from "../../layer/cache-answers.ts";
import { optionalTextOf, textOf } from "../connect/row.ts";
import type { ParameterValue } from "../connect/value.ts";
import { foundRow, headOf } from "../questions/head.ts";
import type { Reads } from "../replicas/reads.ts";
import { type SnapTokens, stateValues } from "../token/snap-token.ts";

const statements = {
  head: stateStatement({ pinnedVersion: false }),
  pinned: stateStatement({ pinnedVersion: true }),
};

/** One question to the database, with the callers that share its answer (single flight). */
interface StateFlight {
  readonly tenant: TenantId;
  readonly key: string;
  /** Called when a slot is free for it. */
  readonly begin: () => void;
  readonly known: Promise<KnownState>;
  /** How many callers wait for it. */
  waiters: number;
}

/**
 * Asks the database which state a token names and whether it may still be read, and for the head.
 * Callers that ask the same while it is being asked share the question that follows. It begins after all
 * of them have come, so no answer is older than its question. While a slot is free, a question goes at
 * once; otherwise it waits in a fair queue.
 */
export class StateQuestions implements StateReader {
  readonly #reads: Reads;
  readonly #schemas: CompiledSchemas;
  readonly #tokens: Pick<SnapTokens, "read">;
  readonly #slots: number;
  readonly #servers: () => number;
  /** The keys of the questions that run: one of each key. */
  readonly #running = new Set<string>();
  /** The flights that have not begun and take more callers, by key. */
  readonly #open = new Map<string, StateFlight>();
  /** The same without those whose key runs already. */
  readonly #waiting = new FairQueue<StateFlight>();

  /** `slots`: how many questions run at each of the `servers` before others wait. */
  constructor(parts: {
    readonly reads: Reads;
    readonly schemas: CompiledSchemas;
    readonly tokens: Pick<SnapTokens, "read">;
    readonly slots: number;
    readonly servers: () => number;
  }) {
    this.#reads = parts.reads;
    this.#schemas = parts.schemas;
    this.#tokens = parts.tokens;
    this.#slots = parts.slots;
    this.#servers = parts.servers;
  }

  /** When the signal aborts, a question that runs goes on for its other callers. */
  async ask(question: StateQuestion, signal: AbortSignal | undefined): Promise<KnownState> {
    if (signal?.aborted === true) throw cancelled(undefined);
    const flight = this.#flightOf(question);
    flight.waiters += 1;
    this.#sendWaiting();
    try {
      return await awaitShared(flight.known, signal);
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0) this.#drop(flight);
    }
  }

  #flightOf(question: StateQuestion): StateFlight {
    const { tenant, snapToken, schemaVersion = "", head = "" } = question;
    const key = `${tenant} ${snapToken} ${schemaVersion} ${head}`;
    const open = this.#open.get(key);
    if (open !== undefined) return open;
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const known = this.#answer(key, question, begun);
    const flight: StateFlight = { tenant, key, begin, known, waiters: 0 };
    this.#open.set(key, flight);
    if (!this.#running.has(key)) this.#waiting.add(flight);
    return flight;
  }

  /** A flight without callers is not asked, unless it has begun. */
  #drop(flight: StateFlight): void {
    if (this.#open.get(flight.key) !== flight) return;
    this.#open.delete(flight.key);
    this.#waiting.remove(flight);
  }

  #sendWaiting(): void {
    const slots = this.#slots * this.#servers();
    while (this.#running.size < slots) {
      const flight = this.#waiting.next();
      if (flight === undefined) return;
      this.#open.delete(flight.key);
      this.#running.add(flight.key);
      flight.begin();
    }
  }

  /** Waits here, so that the statement is in the trace of the first caller. */
  async #answer(key: string, question: StateQuestion, begun: Promise<void>): Promise<KnownState> {
    await begun;
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
    const values = new Map<string, ParameterValue>([["tenant", tenant], ...stateValues(state)]);
    if (schemaVersion !== undefined) values.set("version", schemaVersion);
    const { text, params } = schemaVersion === undefined ? statements.head : statements.pinned;
    const rows = await this.#reads.read(
      text,
      params.map((param) => must(values.get(param), `the parameter ${param} has a value`)),
      { state, head: expected, signal: undefined },
    );
    const row = foundRow(this.#schemas, { tenant, schemaVersion }, true, rows[0]);
    const change = optionalTextOf(row, "last_change");
    // Without a change in the log the snapshot itself identifies the state.
    const shown = change === undefined ? state.snapshot : `${change}:${textOf(row, "hidden")}`;
    return {
      key: `${state.identity}:${state.timeline}:${textOf(row, "number")}:${shown}`,
      version: schemaVersion ?? headOf(row),
    };
  }
}
