import { LRUCache } from "lru-cache";

import { must } from "../../base/assert.ts";
import type { TenantId } from "../../base/tuple.ts";
import { itemKey, type SingleCheck } from "../single-check.ts";

/** How many plans have their cost remembered. */
const costsMax = 10_000;

/** A statement is given up when it takes longer than this, and this many times longer than usual. */
const patienceMsMin = 100;
const patienceTimes = 20;

/**
 * The weight of the last statement in what is usual. A quicker one weighs more, since the first ones, and
 * those at a busy moment, take many times longer.
 */
const slowerWeight = 0.1;
const quickerWeight = 0.5;

/** How many slow checks are remembered: they are asked alone. */
const slowChecksMax = 1000;

/** What checks took, and so which of them go together. */
export class CheckCosts {
  readonly #slotMs: number;
  readonly #slow = new LRUCache<string, true>({ max: slowChecksMax });
  /** Milliseconds that a check takes, by what it asks. */
  readonly #costs = new LRUCache<string, number>({ max: costsMax });
  /** Milliseconds that a statement takes. */
  #usualMs = 0;

  /** A statement should take `slotMs`, as far as the cost of its plan is known. */
  constructor(slotMs: number) {
    this.#slotMs = slotMs;
  }

  /** After so many milliseconds a statement is given up. */
  get patienceMs(): number {
    return Math.max(patienceMsMin, this.#usualMs * patienceTimes);
  }

  /** Whether the check was slow when it was asked last. */
  isSlow(tenant: TenantId, check: SingleCheck): boolean {
    return this.#slow.has(slowKey(tenant, check));
  }

  /** How many checks of the same kind fit into a statement. */
  fitting(tenant: TenantId, check: SingleCheck): number {
    return this.#slotMs / (this.#costs.get(costKey(tenant, check)) ?? 0);
  }

  /** A check was asked alone, when the patience was so long. */
  tookAlone(
    tookMs: number,
    tenant: TenantId,
    check: SingleCheck,
    { patienceMs, isDone }: { readonly patienceMs: number; readonly isDone: boolean },
  ): void {
    const key = slowKey(tenant, check);
    if (tookMs > patienceMs) this.#slow.set(key, true);
    // A check that was abandoned before it was done does not tell its cost.
    if (!isDone) return;
    this.took(tookMs, tenant, [check]);
    if (tookMs <= patienceMs) this.#slow.delete(key);
  }

  /** Checks of one kind were asked together, or one of them alone. */
  took(tookMs: number, tenant: TenantId, checks: readonly SingleCheck[]): void {
    this.#usualMs = average(this.#usualMs, tookMs);
    const key = costKey(tenant, must(checks[0], "a batch that was sent has checks"));
    const eachMs = tookMs / checks.length;
    this.#costs.set(key, average(this.#costs.get(key) ?? eachMs, eachMs));
  }

  /** One of the checks may be slow. Asked alone, each shows its own cost. */
  abandoned(afterMs: number, tenant: TenantId, checks: readonly SingleCheck[]): void {
    if (afterMs < this.#slotMs) return;
    for (const check of checks) this.#slow.set(slowKey(tenant, check), true);
  }
}

function average(usual: number, last: number): number {
  return usual + (last - usual) * (last > usual ? slowerWeight : quickerWeight);
}

/** Of bounded length. Without arguments: only rules take any, and each rule has one list of them. */
export function costKey(tenant: TenantId, { item }: SingleCheck): string {
  const { entity, permission, subject } = item;
  return `${tenant} ${entity.type} ${permission} ${subject.type} ${subject.relation}`;
}

/** The same for all states: the length of a token has no bound. */
function slowKey(tenant: TenantId, check: SingleCheck): string {
  return `${costKey(tenant, check)} ${itemKey(check.item)}`;
}
