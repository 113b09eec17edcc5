import { must } from "../../base/assert.ts";
import { cancelled } from "../../base/error.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { noTelemetry, type Telemetry } from "../../base/telemetry.ts";
import type { TenantId } from "../../base/tuple.ts";
import { itemKey, type SingleCheck, singleCheck } from "../single-check.ts";
import type { CheckAnswer, CheckQuestion } from "../store.ts";
import { batchKey, CheckBatch } from "./check-batch.ts";
import { CheckCosts, costKey } from "./check-costs.ts";
import type { Layer } from "./layer.ts";
import { SerialStatements } from "./serial-statements.ts";

/** An engine that answers checks by statements. */
export interface CheckStatements {
  /** As `PermissionStore.check`, each question by a statement of its own. */
  check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]>;
  /**
   * The answers that one statement gives; undefined for an item that takes more, or whose check fails.
   * An empty list when there was no statement to send.
   */
  decide(tenant: TenantId, question: CheckQuestion): Promise<readonly (CheckAnswer | undefined)[]>;
  /** Whether each check of a statement that failed so would fail so alone. */
  isOfAll(error: unknown): boolean;
}

/** In a larger statement each check waits longer than all of them save. */
const batchMax = 32;

/** A statement that takes longer leaves its slot to others. */
const slotMs = 25;

/** The share of all running statements that one tenant may have. */
const shareOfTenant = 1 / 2;

interface CheckKeys {
  /** Equal for checks that one statement can answer. */
  readonly shared: string;
  /** Equal for equal checks. */
  readonly own: string;
}

interface BatchOptions {
  /** How many statements run, without slow ones, before checks wait; for each server. */
  readonly slots: number;
  /** How many statements run, with slow ones; half of them for one tenant. For each server. */
  readonly runningMax: number;
  /** How many servers there are now; one when absent. */
  readonly servers?: () => number;
  /**
   * Whether a few probes of indexes decide the check, all of the asked entity, as far as that is known at once;
   * no when absent.
   */
  readonly isLocal?: (tenant: TenantId, check: SingleCheck) => boolean;
  readonly telemetry?: Telemetry;
}

/** Sends single checks that wait at the same moment together. It asks the engine itself, not `next`. */
export function batchChecks(statements: CheckStatements, options: BatchOptions): Layer {
  const batches = new CheckBatches(statements, options);
  return {
    only: {
      "permissions.check": async ([tenant, question]) => await batches.check(tenant, question),
    },
  };
}

/**
 * Sends single checks that wait at the same moment as one statement for each plan and state. While a
 * slot is free, a check goes at once and alone; a local one goes with those of its key (`SerialStatements`), and if others
 * run, at the end of this round of the event loop, with those that have come by then. Otherwise it waits in a
 * fair queue, and goes with the checks that came meanwhile when a statement ends. A batch that takes too long is taken apart,
 * and so are the checks that it does not decide: each is asked alone.
 */
export class CheckBatches {
  readonly #statements: CheckStatements;
  readonly #slots: number;
  readonly #runningMax: number;
  readonly #servers: () => number;
  readonly #isLocal: NonNullable<BatchOptions["isLocal"]>;
  readonly #telemetry: Telemetry;
  #busySlots = 0;
  #running = 0;
  readonly #runningOf = new Map<TenantId, number>();
  readonly #waiting = new FairQueue<CheckBatch>();
  /** The waiting batches that take more checks, by key. */
  readonly #open = new Map<string, CheckBatch>();
  /** The waiting batches, by the own keys of their checks. */
  readonly #byCheck = new Map<string, CheckBatch>();
  readonly #costs = new CheckCosts(slotMs);
  /** Local checks wait for the end of this round of the event loop. */
  #isGathering = false;
  readonly #serial = new SerialStatements((batches) => {
    for (const batch of batches) if (batch.size > 0) this.#waiting.add(batch);
    this.#gather();
  });

  constructor(statements: CheckStatements, options: BatchOptions) {
    this.#statements = statements;
    this.#slots = options.slots;
    this.#runningMax = options.runningMax;
    this.#servers = options.servers ?? (() => 1);
    this.#isLocal = options.isLocal ?? (() => false);
    this.#telemetry = options.telemetry ?? noTelemetry;
  }

  /** As `PermissionStore.check`: no answer is of a state older than its question. */
  async check(tenant: TenantId, question: CheckQuestion): Promise<readonly CheckAnswer[]> {
    const single = singleCheck(question);
    if (single === undefined) return await this.#statements.check(tenant, question);
    if (question.signal?.aborted === true) throw cancelled(undefined);
    const shared = `${tenant} ${batchKey(single)}`;
    const own = `${shared} ${itemKey(single.item)}`;
    const batch = this.#batchFor(tenant, single, { shared, own });
    const isFirst = batch.size === 0;
    const answer = batch.join(single, own);
    this.#serial.joined(batch.key);
    // What the first check of a batch waits for, the others wait for as well.
    if (isFirst) this.#begin(tenant, single, batch);
    return [await answer];
  }

  #begin(tenant: TenantId, first: SingleCheck, batch: CheckBatch): void {
    const isLocal = this.#isLocal(tenant, first);
    batch.isLocal = isLocal;
    if (this.#running > 0 && isLocal) this.#gather();
    else this.#sendWaiting();
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    setImmediate(() => {
      this.#isGathering = false;
      this.#sendWaiting();
    });
  }

  /** A waiting batch: the one that has the check already, one that has room for it, or a new one. */
  #batchFor(tenant: TenantId, check: SingleCheck, { shared, own }: CheckKeys): CheckBatch {
    const waiting = this.#byCheck.get(own);
    if (waiting !== undefined) return waiting;
    const isSlow = this.#costs.isSlow(tenant, check);
    const batch = this.#withRoom(tenant, check, isSlow ? own : shared);
    this.#byCheck.set(own, batch);
    return batch;
  }

  #withRoom(tenant: TenantId, check: SingleCheck, key: string): CheckBatch {
    const open = this.#open.get(key);
    const sizeMax = Math.min(batchMax, this.#costs.fitting(tenant, check));
    if (open !== undefined && open.size < sizeMax) return open;
    const batch = new CheckBatch(tenant, key, this.#onLeft);
    this.#open.set(key, batch);
    if (!this.#serial.hold(batch)) this.#waiting.add(batch);
    return batch;
  }

  #sendWaiting(): void {
    const servers = this.#servers();
    const runningMax = this.#runningMax * servers;
    // Slow statements leave their slots. Those of one tenant could fill all connections.
    const hasShareLeft = ({ tenant }: CheckBatch): boolean =>
      (this.#runningOf.get(tenant) ?? 0) < runningMax * shareOfTenant;
    while (this.#busySlots < this.#slots * servers && this.#running < runningMax) {
      const batch = this.#waiting.next(hasShareLeft);
      if (batch === undefined) return;
      this.#close(batch);
      for (const key of batch.checkKeys) this.#forget(batch, key);
      void this.#send(batch);
    }
  }

  #countRunning(tenant: TenantId, more: 1 | -1): void {
    this.#running += more;
    const running = (this.#runningOf.get(tenant) ?? 0) + more;
    if (running === 0) this.#runningOf.delete(tenant);
    else this.#runningOf.set(tenant, running);
  }

  /** A batch without callers leaves the queue. */
  readonly #onLeft = (batch: CheckBatch, checkKey: string): void => {
    this.#forget(batch, checkKey);
    if (batch.size > 0) return;
    this.#close(batch);
    this.#waiting.remove(batch);
  };

  #close(batch: CheckBatch): void {
    if (this.#open.get(batch.key) === batch) this.#open.delete(batch.key);
  }

  #forget(batch: CheckBatch, checkKey: string): void {
    if (this.#byCheck.get(checkKey) === batch) this.#byCheck.delete(checkKey);
  }

  async #send(batch: CheckBatch): Promise<void> {
    this.#countRunning(batch.tenant, 1);
    this.#busySlots += 1;
    let hasSlot = true;
    const leaveSlot = (): void => {
      if (hasSlot) this.#busySlots -= 1;
      hasSlot = false;
      if (!this.#isGathering) this.#sendWaiting();
    };
    const late = setTimeout(leaveSlot, slotMs);
    this.#telemetry.record("pemba.check.batch.size", batch.size, {});
    const endInSeries = this.#beginInSeries(batch);
    let isSent = true;
    try {
      await batch.context.run(async () => {
        if (batch.size === 1) await this.#ask(batch);
        else isSent = await this.#askTogether(batch);
      });
    } catch (error) {
      batch.fail(error);
    } finally {
      clearTimeout(late);
      this.#countRunning(batch.tenant, -1);
      endInSeries?.(isSent);
      leaveSlot();
    }
  }

  #beginInSeries({
    tenant,
    key,
    isLocal,
    size,
    checks,
  }: CheckBatch): ReturnType<SerialStatements["begin"]> | undefined {
    const [first] = checks;
    if (!isLocal || first === undefined) return undefined;
    return this.#serial.begin(key, costKey(tenant, first), size);
  }

  async #ask(batch: CheckBatch): Promise<void> {
    const check = must(batch.checks[0], "a batch that is sent has a check");
    const { patienceMs } = this.#costs;
    const began = performance.now();
    try {
      const answers = await this.#statements.check(batch.tenant, {
        ...check.question,
        signal: batch.signal,
      });
      batch.answer(check, must(answers[0], "one item has one answer"));
    } finally {
      this.#costs.tookAlone(performance.now() - began, batch.tenant, check, {
        patienceMs,
        isDone: !batch.signal.aborted,
      });
    }
  }

  /** Whether there was a statement to send. */
  async #askTogether(batch: CheckBatch): Promise<boolean> {
    const { checks } = batch;
    const first = must(checks[0], "a batch that is sent has checks");
    const cut = new AbortController();
    const cutIt = (): void => cut.abort();
    batch.signal.addEventListener("abort", cutIt, { once: true });
    const late = setTimeout(cutIt, this.#costs.patienceMs);
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
      if (this.#statements.isOfAll(error) && !cut.signal.aborted) throw error;
    } finally {
      clearTimeout(late);
      const tookMs = performance.now() - began;
      if (batch.signal.aborted) this.#costs.abandoned(tookMs, batch.tenant, checks);
      else if (isSent) this.#costs.took(tookMs, batch.tenant, checks);
    }
    for (const alone of batch.split()) this.#waiting.add(alone);
    return isSent;
  }
}
