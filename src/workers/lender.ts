import { setTimeout as wait } from "node:timers/promises";

import { TokenBucket } from "../auth/rate-limit.ts";
import type { Config } from "../config/options.ts";
import type { SharedName } from "../intake/intake.ts";
import { tenantsAtMost } from "../intake/shares.ts";
import type { Loan, ToWorker } from "./message.ts";
import { reserveOf } from "./reserve.ts";

/** A worker that borrows. */
export interface Borrower {
  send(message: ToWorker): void;
}

/** For so long the others may take to say what they do not need. One that takes longer keeps it. */
const recallMs = 100;

/** How much of one limit each worker has borrowed. */
type Loans = Map<Borrower, number>;

/**
 * Lends parts of the limits of the instance to its workers, never more than there is. When a worker asks
 * for what is lent, the others give back what they do not use.
 */
export class Lender {
  readonly #bucket: TokenBucket;
  readonly #limits: Readonly<Record<SharedName, number>>;
  readonly #workers: number;
  readonly #loans = new Map<string, Loans>();
  readonly #borrowers = new Set<Borrower>();
  /** Resolved when a worker has given back what it could, by the key of the loan. */
  readonly #recalls = new Map<Borrower, Map<string, PromiseWithResolvers<void>>>();

  constructor(config: Config, workers: number, now?: () => number) {
    this.#bucket = new TokenBucket(config["server.rate_limit"], now);
    this.#limits = {
      requests: config["server.tenant.request_limit"],
      bytes: config["server.tenant.body_limit"],
      streams: config["server.tenant.stream_limit"],
    };
    this.#workers = workers;
  }

  joined(borrower: Borrower): void {
    this.#borrowers.add(borrower);
  }

  /** Everything that it had is free again. */
  left(borrower: Borrower): void {
    this.#borrowers.delete(borrower);
    for (const [key, loans] of this.#loans) this.#lend(key, loans, borrower, -Infinity);
    for (const { resolve } of this.#recalls.get(borrower)?.values() ?? []) resolve();
    this.#recalls.delete(borrower);
  }

  /** Tokens of the rate limit, at most so many. They are used up. */
  takeTokens(most: number): number {
    return this.#bucket.take(most);
  }

  /**
   * Lends at least `least` and at most `most`, or what there is if that is less. Resolves to how much it
   * has lent.
   */
  async lend(
    borrower: Borrower,
    loan: Loan,
    { least, most }: { readonly least: number; readonly most: number },
  ): Promise<number> {
    const key = keyOf(loan);
    if (this.#free(loan) < least) await this.#recall(borrower, loan);
    // It may have ended meanwhile.
    if (!this.#borrowers.has(borrower)) return 0;
    const amount = Math.max(0, Math.min(most, this.#free(loan)));
    if (amount > 0) this.#lend(key, this.#loansOf(key), borrower, amount);
    return amount;
  }

  /** The worker gives back so much, also as the answer to a recall. */
  giveBack(borrower: Borrower, loan: Loan, amount: number): void {
    const key = keyOf(loan);
    const loans = this.#loans.get(key);
    if (loans !== undefined) this.#lend(key, loans, borrower, -amount);
    this.#recalls.get(borrower)?.get(key)?.resolve();
    this.#recalls.get(borrower)?.delete(key);
  }

  async #recall(asking: Borrower, loan: Loan): Promise<void> {
    const key = keyOf(loan);
    const others = [...(this.#loans.get(key)?.keys() ?? [])].filter((other) => other !== asking);
    if (others.length === 0) return;
    const late = new AbortController();
    const answers = others.map(async (other) => await this.#recallFrom(other, loan));
    const patience = wait(recallMs, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.all(answers), patience]);
    late.abort();
  }

  /** One recall of a loan from a worker serves all who ask meanwhile. */
  async #recallFrom(other: Borrower, loan: Loan): Promise<void> {
    const key = keyOf(loan);
    const recalls = this.#recalls.get(other) ?? new Map<string, PromiseWithResolvers<void>>();
    this.#recalls.set(other, recalls);
    let recall = recalls.get(key);
    if (recall === undefined) {
      recall = Promise.withResolvers<void>();
      recalls.set(key, recall);
      other.send({ kind: "recall", loan });
    }
    await recall.promise;
  }

  /** What is not lent, without the reserve that each worker has of its own. */
  #free(loan: Loan): number {
    const limit = this.#limitOf(loan);
    const lent = this.#loans
      .get(keyOf(loan))
      ?.values()
      .reduce((sum, amount) => sum + amount, 0);
    return limit - this.#workers * reserveOf(limit, this.#workers) - (lent ?? 0);
  }

  #limitOf({ resource, of }: Loan): number {
    return this.#limits[resource] * (of.kind === "all" ? tenantsAtMost : 1);
  }

  #loansOf(key: string): Loans {
    const known = this.#loans.get(key);
    if (known !== undefined) return known;
    const loans: Loans = new Map();
    this.#loans.set(key, loans);
    return loans;
  }

  #lend(key: string, loans: Loans, borrower: Borrower, more: number): void {
    const amount = (loans.get(borrower) ?? 0) + more;
    if (amount > 0) loans.set(borrower, amount);
    else loans.delete(borrower);
    if (loans.size === 0) this.#loans.delete(key);
  }
}

/** Ids of tenants may be any text. */
function keyOf({ resource, of }: Loan): string {
  return of.kind === "all" ? resource : JSON.stringify([resource, of.tenant]);
}
