import { AsyncLocalStorage } from "node:async_hooks";

import { cancelled } from "../../../base/error.ts";
import type { SchemaVersion, TenantId } from "../../../base/tuple.ts";
import { questionKey, questionOf } from "../../../plan/question-of.ts";
import { itemKey, type SingleCheck } from "../../single-check.ts";
import type { CheckAnswer } from "../../store.ts";

/** An answer with the schema version under which it was found. */
export interface VersionedAnswer extends CheckAnswer {
  readonly schemaVersion: SchemaVersion;
}

/**
 * Equal for checks that one statement can answer, and whose errors name a field alike: the plan, the
 * state, the depth, the spelling.
 */
export function batchKey({ item, question }: SingleCheck): string {
  const { schemaVersion = "", snapToken = "", depth } = question;
  const path = question.path(0, "");
  return `${questionKey(questionOf(item))}|${schemaVersion}|${snapToken}|${depth}|${path}`;
}

/** Those who ask the same, and share the answer. */
interface Seat {
  readonly check: SingleCheck;
  /** What the check is known by while it waits. */
  readonly checkKey: string;
  readonly riders: Set<Rider>;
  /** Changes when the check is taken out to be asked alone. */
  batch: CheckBatch;
}

interface Rider {
  readonly resolve: (answer: VersionedAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Told that nobody asks a check of a batch any more. */
export type OnLeft = (batch: CheckBatch, checkKey: string) => void;

/** Checks of one tenant and one key that are sent together. */
export class CheckBatch {
  readonly tenant: TenantId;
  /** What it is known by while it takes others. */
  readonly key: string;
  /** Does work as that of the first who asks, in whose trace it then is. */
  readonly asFirst: ReturnType<typeof AsyncLocalStorage.snapshot> = AsyncLocalStorage.snapshot();
  readonly #seats = new Map<string, Seat>();
  readonly #onLeft: OnLeft;
  readonly #deserted = new AbortController();

  constructor(tenant: TenantId, key: string, onLeft: OnLeft) {
    this.tenant = tenant;
    this.key = key;
    this.#onLeft = onLeft;
  }

  /** How many different checks there are. */
  get size(): number {
    return this.#seats.size;
  }

  /** What its checks are known by while it waits. */
  get checkKeys(): readonly string[] {
    return [...this.#seats.values()].map(({ checkKey }) => checkKey);
  }

  get checks(): readonly SingleCheck[] {
    return [...this.#seats.values()].map(({ check }) => check);
  }

  /** Aborted once nobody waits for any of them. */
  get signal(): AbortSignal {
    return this.#deserted.signal;
  }

  /** Resolves and rejects as the check is settled, and with CANCELLED when its signal aborts. */
  async join(check: SingleCheck, checkKey: string): Promise<VersionedAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<VersionedAnswer>();
    const { signal } = check.question;
    const rider: Rider = { resolve, reject };
    const seat = this.#seatOf(check, checkKey);
    seat.riders.add(rider);
    const leave = (): void => {
      seat.riders.delete(rider);
      if (seat.riders.size === 0) seat.batch.#clear(seat);
      reject(cancelled(undefined));
    };
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Tells those who ask it. */
  answer({ item }: SingleCheck, answer: VersionedAnswer): void {
    const seat = this.#seats.get(itemKey(item));
    if (seat === undefined) return;
    this.#seats.delete(itemKey(item));
    for (const rider of seat.riders) rider.resolve(answer);
  }

  /** Fails all that have no answer yet. */
  fail(error: unknown): void {
    for (const seat of this.#seats.values()) {
      for (const rider of seat.riders) rider.reject(error);
    }
    this.#seats.clear();
  }

  /** Takes out what has no answer yet, each into a batch of its own. */
  split(): readonly CheckBatch[] {
    const seats = [...this.#seats];
    this.#seats.clear();
    return seats.map(([key, seat]) => {
      const alone = new CheckBatch(this.tenant, this.key, this.#onLeft);
      alone.#seats.set(key, seat);
      seat.batch = alone;
      return alone;
    });
  }

  #seatOf(check: SingleCheck, checkKey: string): Seat {
    const key = itemKey(check.item);
    const known = this.#seats.get(key);
    if (known !== undefined) return known;
    const seat: Seat = { check, checkKey, riders: new Set(), batch: this };
    this.#seats.set(key, seat);
    return seat;
  }

  #clear(seat: Seat): void {
    this.#seats.delete(itemKey(seat.check.item));
    if (this.#seats.size === 0) this.#deserted.abort();
    this.#onLeft(this, seat.checkKey);
  }
}
