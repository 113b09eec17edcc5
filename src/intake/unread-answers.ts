import type { NamedTenant } from "../base/tuple.ts";

/** A large answer that is sent. */
interface SentAnswer {
  readonly bytes: number;
  /** Ends it: its connection, or its call. */
  readonly cut: () => void;
  /** How many bytes have gone over its connection, where that grows as the client reads. */
  readonly taken?: (() => number) | undefined;
}

/** One of which its client has not taken all. */
interface UnreadAnswer extends SentAnswer {
  /** The bytes that were taken when it was last looked at. */
  lastTaken: number;
  /** When these were known to be more than before, in milliseconds of the clock. */
  movedAt: number;
}

interface OwnedAnswer {
  readonly tenant: NamedTenant | undefined;
  readonly answer: UnreadAnswer;
}

/** Those of a tenant, in the order in which they were sent. */
interface UnreadOfTenant {
  bytes: number;
  readonly answers: Set<UnreadAnswer>;
}

/** A client that has taken nothing for so many milliseconds does not read. */
const stillMs = 2_000;

/** Clients that read may have so many times as much: all answers of a connection go at the same time. */
const movingMax = 2;

/**
 * The large answers that clients have not read. Each of them is in memory until then, which may be for ever. When they
 * have too many bytes, those of clients that do not read are cut off, and when they have twice as many, any: the oldest of
 * the tenant that has most. So a client that does not read loses its own, and one that is slow has time.
 */
export class UnreadAnswers {
  readonly #max: number;
  readonly #now: () => number;
  readonly #tenants = new Map<NamedTenant | undefined, UnreadOfTenant>();
  #bytes = 0;

  constructor(max: number, now: () => number = () => performance.now()) {
    this.#max = max;
    this.#now = now;
  }

  /** Counts an answer. Returns what to call when it has gone. */
  add(tenant: NamedTenant | undefined, sent: SentAnswer): () => void {
    const { bytes } = sent;
    if (this.#bytes + bytes > this.#max) this.#makeRoom(bytes);
    const answer = { ...sent, lastTaken: sent.taken?.() ?? 0, movedAt: this.#now() };
    const known = this.#tenants.get(tenant);
    const ofTenant = known ?? { bytes: 0, answers: new Set() };
    if (known === undefined) this.#tenants.set(tenant, ofTenant);
    ofTenant.answers.add(answer);
    ofTenant.bytes += bytes;
    this.#bytes += bytes;
    return () => this.#remove(tenant, answer);
  }

  #remove(tenant: NamedTenant | undefined, answer: UnreadAnswer): void {
    const ofTenant = this.#tenants.get(tenant);
    if (ofTenant?.answers.delete(answer) !== true) return;
    ofTenant.bytes -= answer.bytes;
    this.#bytes -= answer.bytes;
    if (ofTenant.answers.size === 0) this.#tenants.delete(tenant);
  }

  /**
   * Cuts answers off until there is room: those over whose connections nothing moves, and then any while there are
   * far too many.
   */
  #makeRoom(bytes: number): void {
    for (const one of this.#byTenant()) {
      if (this.#bytes + bytes <= this.#max) return;
      if (this.#isStill(one.answer)) this.#cut(one);
    }
    for (const one of this.#byTenant()) {
      if (this.#bytes + bytes <= this.#max * movingMax) return;
      this.#cut(one);
    }
  }

  /** All answers, the oldest first, and first those of the tenant that has most. */
  *#byTenant(): Generator<OwnedAnswer> {
    const most = [...this.#tenants].toSorted(([, one], [, other]) => other.bytes - one.bytes);
    for (const [tenant, { answers }] of most)
      for (const answer of answers) yield { tenant, answer };
  }

  #cut({ tenant, answer }: OwnedAnswer): void {
    this.#remove(tenant, answer);
    answer.cut();
  }

  #isStill(answer: UnreadAnswer): boolean {
    const taken = answer.taken?.() ?? 0;
    const now = this.#now();
    if (taken > answer.lastTaken) {
      answer.lastTaken = taken;
      answer.movedAt = now;
    }
    return now - answer.movedAt >= stillMs;
  }
}
