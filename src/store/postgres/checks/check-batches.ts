import { LRUCache } from "lru-cache";

import { must } from "../../../base/assert.ts";
import { cancelled, PembaError } from "../../../base/error.ts";
import { noTelemetry, type Telemetry } from "../../../base/telemetry.ts";
import { TenantTurns } from "../../../base/tenant-turns.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { itemKey, type SingleCheck, singleCheck } from "../../single-check.ts";
import type { CheckQuestion } from "../../store.ts";
import { isExhausted } from "../connect/driver-error.ts";
import { batchKey, CheckBatch, type VersionedAnswer } from "./check-batch.ts";

/** Checks, each question a statement of its own. */
export interface CheckStatements {
  /** As `PermissionStore.check`. */
  check(tenant: TenantId, question: CheckQuestion): Promise<readonly VersionedAnswer[]>;
  /**
   * What one statement can answer; undefined for an item that takes more, or whose check fails. None at
   * all when there was no statement to send.
   */
  decide(
    tenant: TenantId,
    question: CheckQuestion,
  ): Promise<readonly (VersionedAnswer | undefined)[]>;
}

/** With more in one statement each waits longer than all save. */
const batchMax = 32;

/**
 * Batches are so large that they take about this long, as far as it is known what their plan takes; a
 * statement that takes longer keeps nobody waiting any more.
 */
const laneMs = 25;

/** Of the statements that run at all so many may be of one tenant, as of the changes. */
const shareOfTenant = 1 / 2;

/** Plans whose cost is remembered. */
const costsMax = 10_000;

/** A batch is cut when it takes longer than this, and so many times longer than usual. */
const patienceMsMin = 100;
const patienceTimes = 20;

/**
 * How much the last one counts in what is usual: more when it was quicker, since the first ones, and
 * those at a busy moment, take many times longer.
 */
const slowerWeight = 0.1;
const quickerWeight = 0.5;

/** Checks that were slow when asked alone: they stay alone. */
const slowChecksMax = 1000;

/** What a check is known by with those that can go with it, and what it is itself. */
interface CheckKeys {
  readonly shared: string;
  readonly own: string;
}

/**
 * Sends single checks that wait at the same moment as one statement for each plan and state. While
 * fewer than so many statements run, a check goes at once and alone; others wait, tenants in turn, and
 * go with whatever has gathered when one ends. Nothing waits for a time to pass. A batch that takes
 * too long is taken apart, and so is what it leaves open: each is asked alone.
 */
export class CheckBatches {
  readonly #statements: CheckStatements;
  readonly #lanes: number;
  readonly #runningMax: number;
  readonly #servers: () => number;
  readonly #telemetry: Telemetry;
  #busyLanes = 0;
  #running = 0;
  readonly #runningOf = new Map<TenantId, number>();
  readonly #waiting = new TenantTurns<CheckBatch>();
  /** Those that wait and still take others. */
  readonly #open = new Map<string, CheckBatch>();
  /** Those that wait, by the checks in them. */
  readonly #seated = new Map<string, CheckBatch>();
  readonly #slow = new LRUCache<string, true>({ max: slowChecksMax });
  /** Milliseconds that a check takes, by what it asks. */
  readonly #costs = new LRUCache<string, number>({ max: costsMax });
  /** Milliseconds that a statement takes. */
  #usualMs = 0;

  /**
   * `lanes`: how many statements run, but for slow ones, before others wait; `runningMax`: how many
   * run at all, and a tenant has at most half of them. Each for one of `servers`, which is one when
   * absent, and may be another number each time.
   */
  constructor(
    statements: CheckStatements,
    options: {
      readonly lanes: number;
      readonly runningMax: number;
      readonly servers?: () => number;
      readonly telemetry?: Telemetry;
    },
  ) {
    this.#statements = statements;
    this.#lanes = options.lanes;
    this.#runningMax = options.runningMax;
    this.#servers = options.servers ?? (() => 1);
    this.#telemetry = options.telemetry ?? noTelemetry;
  }

  /** As `PermissionStore.check`: no answer is of a state older than its question. */
  async check(tenant: TenantId, question: CheckQuestion): Promise<readonly VersionedAnswer[]> {
    const single = singleCheck(question);
    if (single === undefined) return await this.#statements.check(tenant, question);
    if (question.signal?.aborted === true) throw cancelled(undefined);
    const shared = `${tenant} ${batchKey(single)}`;
    const own = `${shared} ${itemKey(single.item)}`;
    const answer = this.#batchFor(tenant, single, { shared, own }).join(single, own);
    this.#sendWaiting();
    return [await answer];
  }

  /** A batch that waits: that in which the check already is, one that takes it, or a new one. */
  #batchFor(tenant: TenantId, check: SingleCheck, { shared, own }: CheckKeys): CheckBatch {
    const seated = this.#seated.get(own);
    if (seated !== undefined) return seated;
    const isSlow = this.#slow.has(slowKey(tenant, check));
    const batch = this.#withRoom(tenant, check, isSlow ? own : shared);
    this.#seated.set(own, batch);
    return batch;
  }

  #withRoom(tenant: TenantId, check: SingleCheck, key: string): CheckBatch {
    const open = this.#open.get(key);
    const sizeMax = Math.min(batchMax, laneMs / (this.#costs.get(costKey(tenant, check)) ?? 0));
    if (open !== undefined && open.size < sizeMax) return open;
    const batch = new CheckBatch(tenant, key, this.#onLeft);
    this.#open.set(key, batch);
    this.#waiting.add(batch);
    return batch;
  }

  #sendWaiting(): void {
    const servers = this.#servers();
    const runningMax = this.#runningMax * servers;
    // Slow statements leave their lanes, and those of one tenant would end up on all connections.
    const hasShareLeft = ({ tenant }: CheckBatch): boolean =>
      (this.#runningOf.get(tenant) ?? 0) < runningMax * shareOfTenant;
    while (this.#busyLanes < this.#lanes * servers && this.#running < runningMax) {
      const batch = this.#waiting.next(hasShareLeft);
      if (batch === undefined) return;
      this.#close(batch);
      for (const key of batch.checkKeys) this.#unseat(batch, key);
      void this.#send(batch);
    }
  }

  #countRunning(tenant: TenantId, more: 1 | -1): void {
    this.#running += more;
    const running = (this.#runningOf.get(tenant) ?? 0) + more;
    if (running === 0) this.#runningOf.delete(tenant);
    else this.#runningOf.set(tenant, running);
  }

  /** A batch that nobody waits for takes no turn of its tenant. */
  readonly #onLeft = (batch: CheckBatch, checkKey: string): void => {
    this.#unseat(batch, checkKey);
    if (batch.size > 0) return;
    this.#close(batch);
    this.#waiting.remove(batch);
  };

  #close(batch: CheckBatch): void {
    if (this.#open.get(batch.key) === batch) this.#open.delete(batch.key);
  }

  #unseat(batch: CheckBatch, checkKey: string): void {
    if (this.#seated.get(checkKey) === batch) this.#seated.delete(checkKey);
  }

  async #send(batch: CheckBatch): Promise<void> {
    this.#countRunning(batch.tenant, 1);
    this.#busyLanes += 1;
    let isInLane = true;
    const leaveLane = (): void => {
      if (isInLane) this.#busyLanes -= 1;
      isInLane = false;
      this.#sendWaiting();
    };
    const late = setTimeout(leaveLane, laneMs);
    this.#telemetry.record("pemba.check.batch.size", batch.size, {});
    try {
      await batch.asFirst(async () =>
        batch.size === 1 ? await this.#ask(batch) : await this.#askTogether(batch),
      );
    } catch (error) {
      batch.fail(error);
    } finally {
      clearTimeout(late);
      this.#countRunning(batch.tenant, -1);
      leaveLane();
    }
  }

  async #ask(batch: CheckBatch): Promise<void> {
    const check = must(batch.checks[0], "a batch that is sent has a check");
    const patienceMs = this.#patienceMs();
    const began = performance.now();
    try {
      const answers = await this.#statements.check(batch.tenant, {
        ...check.question,
        signal: batch.signal,
      });
      batch.answer(check, must(answers[0], "one item has one answer"));
    } finally {
      const tookMs = performance.now() - began;
      const key = slowKey(batch.tenant, check);
      if (tookMs > patienceMs) this.#slow.set(key, true);
      // Of one that was left before it was done nobody knows how long it takes.
      if (!batch.signal.aborted) {
        this.#took(tookMs, batch.tenant, [check]);
        if (tookMs <= patienceMs) this.#slow.delete(key);
      }
    }
  }

  async #askTogether(batch: CheckBatch): Promise<void> {
    const { checks } = batch;
    const first = must(checks[0], "a batch that is sent has checks");
    const cut = new AbortController();
    const cutIt = (): void => cut.abort();
    batch.signal.addEventListener("abort", cutIt, { once: true });
    const late = setTimeout(cutIt, this.#patienceMs());
    const began = performance.now();
    let isSent = true;
    try {
      const answers = await this.#statements.decide(batch.tenant, {
        ...first.question,
        items: checks.map(({ item }) => item),
        signal: cut.signal,
      });
      isSent = answers.length > 0;
      for (const [index, check] of checks.entries()) {
        const answer = answers[index];
        if (answer !== undefined) batch.answer(check, answer);
      }
    } catch (error) {
      if (isOfAll(error) && !cut.signal.aborted) throw error;
    } finally {
      clearTimeout(late);
      const tookMs = performance.now() - began;
      if (batch.signal.aborted) this.#left(tookMs, batch.tenant, checks);
      else if (isSent) this.#took(tookMs, batch.tenant, checks);
    }
    for (const alone of batch.split()) this.#waiting.add(alone);
  }

  /** One of them may be slow, and the others no longer ride with it: alone each shows what it is. */
  #left(afterMs: number, tenant: TenantId, checks: readonly SingleCheck[]): void {
    if (afterMs < laneMs) return;
    for (const check of checks) this.#slow.set(slowKey(tenant, check), true);
  }

  #patienceMs(): number {
    return Math.max(patienceMsMin, this.#usualMs * patienceTimes);
  }

  #took(tookMs: number, tenant: TenantId, checks: readonly SingleCheck[]): void {
    this.#usualMs = average(this.#usualMs, tookMs);
    const key = costKey(tenant, must(checks[0], "a batch that was sent has checks"));
    const eachMs = tookMs / checks.length;
    this.#costs.set(key, average(this.#costs.get(key) ?? eachMs, eachMs));
  }
}

/**
 * Whether each of the checks would fail so: for the tenant, the state or the way to the database. A
 * fault of ours, a statement that took too long, or for which the server had not the disk or the
 * memory, may be for one of them.
 */
function isOfAll(error: unknown): boolean {
  if (!(error instanceof PembaError) || isExhausted(error)) return false;
  return error.kind !== "internal" && error.kind !== "deadline_exceeded";
}

function average(usual: number, last: number): number {
  return usual + (last - usual) * (last > usual ? slowerWeight : quickerWeight);
}

/** Without arguments: there is one list of them that a rule takes, and no other question has any. */
function costKey(tenant: TenantId, { item }: SingleCheck): string {
  const { entity, permission, subject } = item;
  return `${tenant} ${entity.type} ${permission} ${subject.type} ${subject.relation}`;
}

/** Whatever the state is: its token has no bound of its own. */
function slowKey(tenant: TenantId, check: SingleCheck): string {
  return `${costKey(tenant, check)} ${itemKey(check.item)}`;
}
