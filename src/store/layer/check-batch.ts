import { AsyncContext } from "../../base/async-context.ts";
import { cancelled } from "../../base/error.ts";
import type { TenantId } from "../../base/tuple.ts";
import { questionKey, questionOf } from "../../plan/question-of.ts";
import { itemKey, type SingleCheck } from "../single-check.ts";
import type { CheckAnswer } from "../store.ts";

/**
 * Equal for checks that one statement can answer, and whose errors name a field alike: the plan, the
 * state, the depth, the spelling.
 */
export function batchKey({ item, question }: SingleCheck): string {
  const { schemaVersion = "", snapToken = "", depth } = question;
  const path = question.path(0, "");
  return `${questionKey(questionOf(item))}|${schemaVersion}|${snapToken}|${depth}|${path}`;
}

/** A check of a batch, with all callers that wait for its answer. */
interface BatchEntry {
  readonly check: SingleCheck;
  /** Identifies the check while it waits. */
  readonly checkKey: string;
  readonly waiters: Set<CheckWaiter>;
  /** Changes when the check is taken out to be asked alone. */
  batch: CheckBatch;
}

interface CheckWaiter {
  readonly resolve: (answer: CheckAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Called when the last caller of a check has left its batch. */
export type OnLeft = (batch: CheckBatch, checkKey: string) => void;

/** Checks of one tenant and one key that are sent together. */
export class CheckBatch {
  readonly tenant: TenantId;
  /** Identifies the batch while it takes more checks. */
  readonly key: string;
  /** The context of the first caller: what is sent belongs to its trace. */
  readonly context = new AsyncContext();
  /** Whether a few probes of indexes decide each of its checks. */
  isLocal = false;
  readonly #entries = new Map<string, BatchEntry>();
  readonly #onLeft: OnLeft;
  readonly #abandoned = new AbortController();

  constructor(tenant: TenantId, key: string, onLeft: OnLeft) {
    this.tenant = tenant;
    this.key = key;
    this.#onLeft = onLeft;
  }

  /** How many different checks there are. */
  get size(): number {
    return this.#entries.size;
  }

  /** The keys of its checks while it waits. */
  get checkKeys(): readonly string[] {
    return [...this.#entries.values()].map(({ checkKey }) => checkKey);
  }

  get checks(): readonly SingleCheck[] {
    return [...this.#entries.values()].map(({ check }) => check);
  }

  /** Aborted when the last caller has left. */
  get signal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Resolves and rejects as the check is settled, and with CANCELLED when its signal aborts. */
  async join(check: SingleCheck, checkKey: string): Promise<CheckAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<CheckAnswer>();
    const { signal } = check.question;
    const waiter: CheckWaiter = { resolve, reject };
    const entry = this.#entryOf(check, checkKey);
    entry.waiters.add(waiter);
    const leave = (): void => {
      entry.waiters.delete(waiter);
      if (entry.waiters.size === 0) entry.batch.#clear(entry);
      reject(cancelled(undefined));
    };
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Gives the answer to all callers of the check. */
  answer({ item }: SingleCheck, answer: CheckAnswer): void {
    const entry = this.#entries.get(itemKey(item));
    if (entry === undefined) return;
    this.#entries.delete(itemKey(item));
    for (const waiter of entry.waiters) waiter.resolve(answer);
  }

  /** Fails all that have no answer yet. */
  fail(error: unknown): void {
    for (const entry of this.#entries.values()) {
      for (const waiter of entry.waiters) waiter.reject(error);
    }
    this.#entries.clear();
  }

  /** Takes out what has no answer yet, each into a batch of its own. */
  split(): readonly CheckBatch[] {
    const entries = [...this.#entries];
    this.#entries.clear();
    return entries.map(([key, entry]) => {
      const alone = new CheckBatch(this.tenant, this.key, this.#onLeft);
      alone.#entries.set(key, entry);
      entry.batch = alone;
      return alone;
    });
  }

  #entryOf(check: SingleCheck, checkKey: string): BatchEntry {
    const key = itemKey(check.item);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry: BatchEntry = { check, checkKey, waiters: new Set(), batch: this };
    this.#entries.set(key, entry);
    return entry;
  }

  #clear(entry: BatchEntry): void {
    this.#entries.delete(itemKey(entry.check.item));
    if (this.#entries.size === 0) this.#abandoned.abort();
    this.#onLeft(this, entry.checkKey);
  }
}
