import { LRUCache } from "lru-cache";

import { assert, must } from "../../../base/assert.ts";
import { cancelled } from "../../../base/error.ts";
import { ReturningCallers } from "../../../base/returning-callers.ts";
import { awaitShared } from "../../../base/single-flight.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { Tail, type TailChange, type TailReader } from "../../layer/tail.ts";
import { type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { arrayLiteral } from "../connect/value.ts";
import { headOf } from "../questions/head.ts";
import type { Reads } from "../replicas/reads.ts";
import { parseSnapshot, shownSince } from "../token/snapshot.ts";
import { QuietReads } from "./quiet-reads.ts";

const sinceStatement = statementFile("changes/since.sql");

/** Most tenants that one statement reads. */
const tenantsMax = 64;

/** If more changed, all answers of the tenant are found anew. */
const changesMax = 100;

/** A statement that takes longer lets another one run beside it. */
const slowMs = 25;

/** So long the callers of a statement are waited for. */
const returnMs = 1;

/** A tail, with what the statement that reads it again needs. */
interface FollowedTail {
  readonly tail: Tail;
  /** Of the tenant: one that is created anew has another. */
  readonly number: string;
  /** The life of the database that showed it. */
  readonly life: string;
}

/** One reading of a tail, with the callers that share it. */
interface Reading {
  readonly tenant: TenantId;
  readonly tail: Promise<Tail | undefined>;
  readonly resolve: (tail: Tail | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** How many have asked for it. */
  callers: number;
}

/**
 * Reads the tails of tenants. What is asked for while a statement runs is asked together by the next one, for
 * all tenants, so each tail is read at a moment after all of its callers have come. A tail is read by
 * one statement at a time.
 */
export class TailReads implements TailReader {
  readonly #reads: Reads;
  readonly #statementsMax: number;
  readonly #followed: LRUCache<TenantId, FollowedTail>;
  /** Readings that have not begun, in the order in which they were asked for. */
  readonly #waiting = new Map<TenantId, Reading>();
  /** Tenants whose tail is being read. */
  readonly #running = new Set<TenantId>();
  #position = 0;
  #statements = 0;
  #slowStatements = 0;
  #isScheduled = false;
  readonly #quiet: QuietReads;
  /** Of the readings that have not begun. */
  #callers = 0;
  readonly #returning = new ReturningCallers(returnMs, () => this.#sendWaiting());

  /** `maxBytes` bounds the tails; `statementsMax`: how many statements run at the same time. */
  constructor(parts: {
    readonly reads: Reads;
    readonly maxBytes: number;
    readonly statementsMax: number;
  }) {
    this.#reads = parts.reads;
    this.#quiet = new QuietReads(parts.reads);
    this.#statementsMax = parts.statementsMax;
    this.#followed = new LRUCache({
      maxSize: Math.max(1, Math.floor(parts.maxBytes)),
      sizeCalculation: ({ tail }, tenant) => tail.bytes + tail.state.shown.length + tenant.length,
    });
  }

  get isGathering(): boolean {
    return this.#returning.isWaiting;
  }

  mayReadAlone(tenant: TenantId): boolean {
    // The callers of a reading that still runs may have given it up.
    if (this.#statements > 0) return false;
    return this.#followed.has(tenant) && this.#quiet.mayLookAlone();
  }

  known(tenant: TenantId): Tail | undefined {
    return this.#followed.get(tenant)?.tail;
  }

  /** When the signal aborts, a statement that runs goes on for its other callers. */
  async read(tenant: TenantId, signal: AbortSignal | undefined): Promise<Tail | undefined> {
    if (signal?.aborted === true) throw cancelled(undefined);
    const reading = this.#waiting.get(tenant) ?? this.#wait(tenant);
    reading.callers += 1;
    this.#callers += 1;
    this.#returning.entered(this.#callers);
    return await awaitShared(reading.tail, signal);
  }

  isShownIn(shown: string, by: string): boolean {
    return shown === by || shownSince(parseSnapshot(by), parseSnapshot(shown)).length === 0;
  }

  #wait(tenant: TenantId): Reading {
    const { promise: tail, resolve, reject } = Promise.withResolvers<Tail | undefined>();
    // Its callers may all have left when it fails.
    tail.catch(() => undefined);
    const reading: Reading = { tenant, tail, resolve, reject, callers: 0 };
    this.#waiting.set(tenant, reading);
    this.#schedule();
    return reading;
  }

  /** At the end of this round of the event loop: what comes in the same round shares the statement. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendWaiting();
    });
  }

  #sendWaiting(): void {
    if (this.#returning.isWaiting) return;
    while (this.#statements - this.#slowStatements < 1 && this.#statements < this.#statementsMax) {
      const readings = this.#takeWaiting();
      if (readings.length === 0) return;
      void this.#send(readings);
    }
  }

  #takeWaiting(): readonly Reading[] {
    const taken: Reading[] = [];
    for (const reading of this.#waiting.values()) {
      if (taken.length === tenantsMax) break;
      if (!this.#running.has(reading.tenant)) taken.push(reading);
    }
    for (const { tenant, callers } of taken) {
      this.#callers -= callers;
      this.#waiting.delete(tenant);
      this.#running.add(tenant);
    }
    return taken;
  }

  async #send(readings: readonly Reading[]): Promise<void> {
    this.#statements += 1;
    let isSlow = false;
    const slow = setTimeout(() => {
      isSlow = true;
      this.#slowStatements += 1;
      this.#sendWaiting();
    }, slowMs);
    try {
      await this.#read(readings);
    } catch (error) {
      for (const { reject } of readings) reject(error);
    } finally {
      clearTimeout(slow);
      this.#statements -= 1;
      if (isSlow) this.#slowStatements -= 1;
      for (const { tenant } of readings) this.#running.delete(tenant);
      const ended = readings.reduce((sum, { callers }) => sum + callers, 0);
      if (!this.#returning.waitFor(ended, this.#callers)) this.#schedule();
    }
  }

  async #read(readings: readonly Reading[]): Promise<void> {
    const former = readings.map(({ tenant }) => this.#followed.get(tenant));
    if (await this.#quiet.isQuietSince(former)) {
      for (const [index, { resolve }] of readings.entries()) resolve(former[index]?.tail);
      return;
    }
    const tenants = arrayLiteral(readings.map(({ tenant }) => tenant));
    const seen = arrayLiteral(former.map((followed) => followed?.tail.state.shown ?? ""));
    const frame = { state: undefined, head: undefined, signal: undefined };
    const rows = await this.#reads.read(sinceStatement, [tenants, seen, changesMax], frame);
    const byTenant = new Map(rows.map((row) => [textOf(row, "tenant"), row]));
    for (const [index, { tenant, resolve }] of readings.entries()) {
      const row = byTenant.get(tenant);
      if (row === undefined) this.#followed.delete(tenant);
      resolve(row && this.#follow(tenant, former[index], row));
    }
  }

  #follow(tenant: TenantId, former: FollowedTail | undefined, row: Row): Tail {
    const [number, life] = [textOf(row, "number"), textOf(row, "life")];
    const state = { head: headOf(row), shown: textOf(row, "shown") };
    const changes = row["changes"];
    this.#position += 1;
    const isSame = former?.number === number && former.life === life && changes !== null;
    const tail = isSame ? former.tail : new Tail(this.#position, state);
    if (isSame) tail.moveTo(this.#position, state, changesOf(changes));
    this.#followed.set(tenant, { tail, number, life });
    return tail;
  }
}

function changesOf(changes: unknown): readonly TailChange[] {
  assert(Array.isArray(changes), "changes are a list");
  return changes.map((change: unknown) => {
    assert(Array.isArray(change), "a change is a list");
    const [entityType, name, entityId, type, id, relation] = change.map((part: unknown) =>
      typeof part === "string" ? part : undefined,
    );
    return {
      entityType: must(entityType, "a change has an entity"),
      name: must(name, "a change has a relation or an attribute"),
      entityId: must(entityId, "a change has an entity"),
      subject:
        type === undefined || id === undefined || relation === undefined
          ? undefined
          : { type, id, relation },
    };
  });
}
