import { must } from "../../../base/assert.ts";
import { AsyncContext } from "../../../base/async-context.ts";
import { presentCaller } from "../../../base/caller.ts";
import { cancelled, PembaError } from "../../../base/error.ts";
import type { SnapToken, TenantId } from "../../../base/tuple.ts";
import type { Changer } from "../connect/statement-run.ts";
import { arrayLiteral, type ParameterValue } from "../connect/value.ts";
import { tupleColumns } from "./columns.ts";
import type { SingleWrite } from "./single-write.ts";

/** What becomes of a write that waits. */
export type BatchedOutcome =
  | { readonly kind: "written"; readonly token: SnapToken }
  /** Nothing of it was done. It is to be made alone, and `done` to be called after that. */
  | { readonly kind: "alone"; readonly done: () => void };

/** A write of one tuple that waits to be sent, or is sent, with others. */
export class WriteEntry {
  readonly write: SingleWrite;
  readonly caller = presentCaller();
  /** The context of its caller: what is sent belongs to its trace. */
  readonly context = new AsyncContext();
  readonly #outcome = Promise.withResolvers<BatchedOutcome>();
  /** Undefined while it waits. */
  batch: WriteBatch | undefined;

  constructor(write: SingleWrite) {
    this.write = write;
  }

  get tenant(): TenantId {
    return this.write.tenant;
  }

  /** The outcome. Fails as the batch does, and with CANCELLED if the caller leaves before it is sent. */
  async wait(onLeft: () => void): Promise<BatchedOutcome> {
    const signal = this.caller?.signal;
    const leave = (): void => {
      if (this.batch?.drop(this) === false) return;
      onLeft();
      this.fail(cancelled(undefined));
    };
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await this.#outcome.promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  settle(outcome: BatchedOutcome): void {
    this.#outcome.resolve(outcome);
  }

  fail(error: unknown): void {
    this.#outcome.reject(error);
  }
}

/** Writes of one tuple that one statement makes. Until it is sent, each may leave. */
export class WriteBatch implements Changer {
  readonly #entries: Set<WriteEntry>;
  readonly #abandoned = new AbortController();
  #isSent = false;
  #isUndone = false;

  constructor(entries: readonly WriteEntry[]) {
    this.#entries = new Set(entries);
    for (const entry of entries) entry.batch = this;
  }

  /** Aborted when all have left. */
  get signal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** When the first of them is given up. */
  get changeEndsAt(): number | undefined {
    const ends = [...this.#entries].map(({ caller }) => caller?.changeEndsAt ?? Infinity);
    const first = Math.min(...ends);
    return first === Infinity ? undefined : first;
  }

  sendsChange(): void {
    this.#isSent = true;
    this.#isUndone = false;
    for (const { caller } of this.#entries) caller?.sendsChange();
  }

  undoesChange(): void {
    this.#isUndone = true;
    for (const { caller } of this.#entries) caller?.undoesChange();
  }

  /** The one that the statement expects of its server. */
  get timeline(): number {
    const [first] = this.#entries;
    return must(first, "a batch without writes is not sent").write.place.timeline;
  }

  /** The values of the statement without those that have left. `lockWait`: as `lockWait()` makes it. */
  values(lockWait: ParameterValue): readonly ParameterValue[] {
    const writes = [...this.#entries].map(({ write }) => write);
    const columns = [
      writes.map(({ tenant }) => tenant),
      writes.map(({ place }) => place.number),
      writes.map(({ place }) => place.head),
      ...tupleColumns(writes.map(({ tuple }) => tuple)),
    ];
    return [writes[0]?.place.timeline ?? null, ...columns.map(arrayLiteral), lockWait];
  }

  /** The entry leaves. False if it is too late for that. */
  drop(entry: WriteEntry): boolean {
    if (this.#isSent) return false;
    this.#entries.delete(entry);
    if (this.#entries.size === 0) this.#abandoned.abort();
    return true;
  }

  /** Gives each write its token, in their order. One without a token is made alone. */
  settle(tokens: readonly (SnapToken | undefined)[]): void {
    for (const [place, entry] of [...this.#entries].entries()) {
      const token = tokens[place];
      if (token !== undefined) {
        entry.settle({ kind: "written", token });
        continue;
      }
      entry.caller?.undoesChange();
      entry.settle({ kind: "alone", done: () => {} });
    }
  }

  /**
   * The statement failed. If it was undone, or found no connection in its time, each write is made alone,
   * since another one may be the reason. Otherwise each fails as the statement did.
   */
  fail(error: unknown): void {
    if (this.#isSent ? this.#isUndone : isLate(error)) this.settle([]);
    else for (const entry of this.#entries) entry.fail(error);
  }
}

function isLate(error: unknown): boolean {
  return error instanceof PembaError && error.code === "DEADLINE_EXCEEDED";
}
