import type { NamedTenant } from "../base/tuple.ts";
import type { SharedName } from "../intake/intake.ts";
import {
  type SharedResource,
  type Shares,
  tenantsAtMost,
  tooMuchOfAll,
  tooMuchOfTenant,
} from "../intake/shares.ts";
import type { Loan, LoanOf } from "./message.ts";
import { reserveOf } from "./reserve.ts";

/** The lender, from a worker. */
export interface LenderLink {
  /** Resolves to how much was lent: what there is, at most `most`. */
  borrow(loan: Loan, amount: { readonly least: number; readonly most: number }): Promise<number>;
  giveBack(loan: Loan, amount: number): void;
}

/** After a refusal nothing more is asked for so many milliseconds: a flood must not reach the lender. */
const refusedMs = 10;

/** What waits until enough is borrowed for it. */
interface BorrowWaiter {
  readonly amount: number;
  readonly settle: (isTaken: boolean) => void;
}

/** What this worker has and holds of one limit. */
interface Account {
  readonly loan: Loan;
  /** What it may hold without a loan, which is also how much it borrows ahead. */
  readonly reserve: number;
  borrowed: number;
  held: number;
  readonly waiters: BorrowWaiter[];
  isAsking: boolean;
  /** Nothing is asked before this time, in milliseconds of the clock. */
  refusedUntil: number;
  /** Whether it is to be forgotten when that time is over. */
  isLeaving: boolean;
}

/**
 * The shares of one worker. What it lacks it borrows, a little ahead, so that few requests wait for that.
 * What it does not hold any more it keeps for the next request, until the lender recalls it or nothing of
 * the tenant is held.
 */
export class BorrowedShares implements Shares {
  readonly #ofTenant: number;
  readonly #workers: number;
  readonly #name: SharedName;
  readonly #resource: SharedResource;
  readonly #link: LenderLink;
  readonly #now: () => number;
  readonly #tenants = new Map<NamedTenant | undefined, Account>();
  readonly #all: Account;

  constructor(options: {
    readonly name: SharedName;
    /** Of the instance. */
    readonly ofTenant: number;
    readonly workers: number;
    readonly resource: SharedResource;
    readonly link: LenderLink;
    readonly now?: () => number;
  }) {
    const { name, ofTenant, workers, resource, link, now = () => performance.now() } = options;
    this.#name = name;
    this.#ofTenant = ofTenant;
    this.#workers = workers;
    this.#resource = resource;
    this.#link = link;
    this.#now = now;
    this.#all = this.#newAccount({ kind: "all" }, ofTenant * tenantsAtMost);
  }

  take(tenant: NamedTenant | undefined, amount: number): undefined | Promise<void> {
    const account = this.#accountOf(tenant);
    if (isCovered(account, amount) && isCovered(this.#all, amount)) {
      account.held += amount;
      this.#all.held += amount;
      return undefined;
    }
    return this.#borrowBoth(tenant, account, amount);
  }

  giveBack(tenant: NamedTenant | undefined, amount: number): void {
    const account = this.#tenants.get(tenant);
    this.#all.held -= amount;
    if (account === undefined) return;
    account.held -= amount;
    this.#forgetUnused(tenant, account);
  }

  /** Gives back what is borrowed and not held. The lender waits for an answer, also if that is nothing. */
  recalled({ of }: Loan): void {
    const account = of.kind === "all" ? this.#all : this.#tenants.get(of.tenant);
    const loan = { resource: this.#name, of };
    const spare = account === undefined ? 0 : spareOf(account);
    if (account !== undefined) account.borrowed -= spare;
    this.#link.giveBack(loan, spare);
  }

  async #borrowBoth(
    tenant: NamedTenant | undefined,
    account: Account,
    amount: number,
  ): Promise<void> {
    // What the tenant borrowed for it would go back at once, so a flood would reach the lender.
    if (!this.#isRefused(account, amount) && this.#isRefused(this.#all, amount)) {
      this.#forgetUnused(tenant, account);
      throw tooMuchOfAll(this.#ofTenant, this.#resource);
    }
    if (!(await this.#borrow(account, amount))) {
      this.#forgetUnused(tenant, account);
      throw tooMuchOfTenant(this.#ofTenant, this.#resource);
    }
    if (await this.#borrow(this.#all, amount)) return;
    account.held -= amount;
    this.#forgetUnused(tenant, account);
    throw tooMuchOfAll(this.#ofTenant, this.#resource);
  }

  /** Takes the amount from the account as soon as that has it. Resolves to whether it was taken. */
  async #borrow(account: Account, amount: number): Promise<boolean> {
    if (isCovered(account, amount)) {
      account.held += amount;
      return true;
    }
    if (this.#isRefused(account, amount)) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    account.waiters.push({ amount, settle: resolve });
    if (!account.isAsking) void this.#ask(account);
    return await promise;
  }

  /** Whether the amount is refused without a question. */
  #isRefused(account: Account, amount: number): boolean {
    return !account.isAsking && this.#isResting(account) && !isCovered(account, amount);
  }

  #isResting({ refusedUntil }: Account): boolean {
    return this.#now() < refusedUntil;
  }

  /** One question for all who wait, and the next for those who came meanwhile, unless these were refused. */
  async #ask(account: Account): Promise<void> {
    account.isAsking = true;
    while (account.waiters.length > 0) {
      const waiters = account.waiters.splice(0);
      const wanted = waiters.reduce((sum, { amount }) => sum + amount, 0);
      const least = Math.max(0, account.held + wanted - account.borrowed - account.reserve);
      const most = least + account.reserve;
      const isResting = this.#isResting(account);
      const lent =
        least > 0 && !isResting ? await this.#link.borrow(account.loan, { least, most }) : 0;
      account.borrowed += lent;
      for (const { amount, settle } of waiters) {
        const isTaken = isCovered(account, amount);
        if (isTaken) account.held += amount;
        else if (!isResting) account.refusedUntil = this.#now() + refusedMs;
        settle(isTaken);
      }
    }
    account.isAsking = false;
  }

  #accountOf(tenant: NamedTenant | undefined): Account {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const account = this.#newAccount({ kind: "tenant", tenant }, this.#ofTenant);
    this.#tenants.set(tenant, account);
    return account;
  }

  #newAccount(of: LoanOf, limit: number): Account {
    return {
      loan: { resource: this.#name, of },
      reserve: reserveOf(limit, this.#workers),
      borrowed: 0,
      held: 0,
      waiters: [],
      isAsking: false,
      refusedUntil: -Infinity,
      isLeaving: false,
    };
  }

  /** Else a client who invents names of tenants would fill the memory. */
  #forgetUnused(tenant: NamedTenant | undefined, account: Account): void {
    const isUsed = account.held > 0 || account.isAsking || account.isLeaving;
    if (isUsed || this.#tenants.get(tenant) !== account) return;
    if (this.#isResting(account)) {
      account.isLeaving = true;
      setTimeout(() => {
        account.isLeaving = false;
        this.#forgetUnused(tenant, account);
      }, refusedMs).unref();
      return;
    }
    this.#tenants.delete(tenant);
    if (account.borrowed > 0) this.#link.giveBack(account.loan, account.borrowed);
  }
}

function isCovered({ held, borrowed, reserve }: Account, amount: number): boolean {
  return held + amount <= borrowed + reserve;
}

function spareOf({ held, borrowed, reserve }: Account): number {
  return Math.min(borrowed, Math.max(0, borrowed + reserve - held));
}
