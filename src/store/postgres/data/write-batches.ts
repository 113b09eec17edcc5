import { must } from "../../../base/assert.ts";
import { cancelled } from "../../../base/error.ts";
import { FairQueue } from "../../../base/fair-queue.ts";
import { IdleSpan, IdleTimer } from "../../../base/idle-timer.ts";
import { ReturningCallers } from "../../../base/returning-callers.ts";
import type { Telemetry } from "../../../base/telemetry.ts";
import type { SnapToken } from "../../../base/tuple.ts";
import { optionalTextOf, type Row } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { ParameterValue } from "../connect/value.ts";
import { type SingleWrite, type SingleWriteParts, writeTuple } from "./single-write.ts";
import { type BatchedOutcome, WriteBatch, WriteEntry } from "./write-batch.ts";

const writeBatchStatement = statementFile("data/write-batch.sql");

/**
 * A statement that is waited for longer leaves its slot to others: then commits are slow, and many go at the same time.
 * In milliseconds of an `IdleSpan`.
 */
const slotMs = 1;

/** So long the callers of a batch are waited for. */
const returnMs = 2;

/** In a larger batch each write waits longer than all of them save. */
const batchMax = 64;

/**
 * How long a batch waits for a lock: all of its writes wait for it. An application that waits for the batch
 * meanwhile must not be ended by the detection of deadlocks, which waits for longer.
 */
const batchLockWait = "20ms";

/** A statement under way. */
interface Slot {
  /** Begins when it is taken. */
  readonly running: IdleSpan;
  /** How many writes it makes. */
  readonly writes: number;
}

interface WriteBatchesParts extends SingleWriteParts {
  /** Of a write that is made alone, as `lockWait()` makes it. */
  readonly lockWait: ParameterValue;
  readonly telemetry: Telemetry;
  /** Streams tell what a transaction changed as one message: no two writes of a tenant share one then. */
  readonly isWatched: boolean;
}

/**
 * Makes writes of one tuple. While a slot is free, a write goes at once and alone. Otherwise it waits in a
 * fair queue, and goes with those that came meanwhile, in one transaction, when a slot comes free. A write
 * that the batch does not make is made alone. So each has the outcome that it would have alone.
 */
export class WriteBatches {
  readonly #parts: WriteBatchesParts;
  readonly #waiting = new FairQueue<WriteEntry>();
  /** Those that are taken, in the order in which they were. */
  readonly #taken = new Set<Slot>();
  readonly #returning = new ReturningCallers(returnMs, () => this.#sendWaiting());
  #overdue: IdleTimer | undefined;

  constructor(parts: WriteBatchesParts) {
    this.#parts = parts;
  }

  /**
   * The token of the state after the write. Undefined when nothing was done, since what is known of its
   * place is no longer so.
   */
  async write(write: SingleWrite): Promise<SnapToken | undefined> {
    if (this.#hasSlot) return await this.#alone(write, this.#takeSlot(1));
    // One more of its tenant could not go with the one that waits.
    const { isWatched } = this.#parts;
    if (isWatched && this.#waiting.has(write.tenant)) return await this.#alone(write, () => {});
    const outcome = await this.#wait(write);
    return outcome.kind === "written" ? outcome.token : await this.#alone(write, outcome.done);
  }

  async #alone(write: SingleWrite, done: () => void): Promise<SnapToken | undefined> {
    this.#parts.telemetry.record("pemba.write.batch.size", 1, {});
    try {
      return await writeTuple(this.#parts, write, this.#parts.lockWait);
    } finally {
      done();
    }
  }

  async #wait(write: SingleWrite): Promise<BatchedOutcome> {
    const entry = new WriteEntry(write);
    if (entry.caller?.signal.aborted === true) throw cancelled(undefined);
    this.#waiting.add(entry);
    this.#returning.entered(this.#waiting.size);
    this.#awaitSlot();
    return await entry.wait(() => this.#waiting.remove(entry));
  }

  /**
   * Whether a statement may go. Beside one that makes a single write another one may. A batch runs by itself: as
   * many writes come meanwhile, so that the next batch is as large.
   */
  get #hasSlot(): boolean {
    if (this.#returning.isWaiting) return false;
    const [first, ...others] = this.#taken;
    return first === undefined || (first.writes === 1 && others.length === 0);
  }

  /** Returns what gives the slot back. */
  #takeSlot(writes: number): () => void {
    const slot = { running: new IdleSpan(), writes };
    this.#taken.add(slot);
    return () => {
      if (!this.#taken.delete(slot)) return;
      if (!this.#returning.waitFor(writes, this.#waiting.size)) this.#sendWaiting();
    };
  }

  /**
   * Takes slots back from statements that take long, and sends what waits. A write that meets a free slot
   * needs no timer.
   */
  #awaitSlot(): void {
    const [first] = this.#taken;
    if (this.#overdue !== undefined || first === undefined) return;
    const endOverdue = (): void => {
      this.#overdue = undefined;
      for (const slot of this.#taken) {
        if (slot.running.isOver(slotMs)) this.#taken.delete(slot);
      }
      this.#sendWaiting();
    };
    this.#overdue = new IdleTimer(slotMs, endOverdue, first.running);
  }

  #sendWaiting(): void {
    while (this.#hasSlot) {
      const entries = this.#takeWaiting();
      const [first, ...others] = entries;
      if (first === undefined) return;
      const leave = this.#takeSlot(entries.length);
      if (others.length === 0) first.settle({ kind: "alone", done: leave });
      else void this.#send([first, ...others], leave);
    }
    if (this.#waiting.size > 0) this.#awaitSlot();
  }

  #takeWaiting(): readonly WriteEntry[] {
    const taken: WriteEntry[] = [];
    while (taken.length < batchMax) {
      const next = this.#waiting.next();
      if (next === undefined) break;
      taken.push(next);
    }
    return taken;
  }

  async #send(entries: readonly WriteEntry[], leave: () => void): Promise<void> {
    const { database, telemetry } = this.#parts;
    telemetry.record("pemba.write.batch.size", entries.length, {});
    const batch = new WriteBatch(entries);
    const first = must(entries[0], "a batch has writes");
    try {
      const values = (): readonly ParameterValue[] => batch.values(batchLockWait);
      const rows = await first.context.run(() =>
        database.writeTogether(writeBatchStatement, values, batch),
      );
      leave();
      batch.settle(await this.#tokensOf(rows, batch.timeline));
    } catch (error) {
      batch.fail(error);
    } finally {
      leave();
    }
  }

  /** The token of each write that the statement made or found made. */
  async #tokensOf(
    rows: readonly Row[],
    timeline: number,
  ): Promise<readonly (SnapToken | undefined)[]> {
    const { tokens, onChanged } = this.#parts;
    const written = optionalTextOf(must(rows[0], "the function returns one row"), "written");
    if (written === undefined) return [];
    const [marks = "", snapshot = "", xid = "", durable] = written.split(" ");
    const made = new Map<string, SnapToken>();
    if (marks.includes("+")) {
      onChanged();
      made.set("+", await tokens.mint({ snapshot, timeline, xid }));
    }
    if (durable !== undefined) {
      made.set("=", await tokens.mint({ snapshot, timeline, xid: undefined, durable }));
    }
    return Array.from(marks, (mark) => made.get(mark));
  }
}
