import { pause } from "../../../base/pause.ts";
import type { TenantId } from "../../../base/tuple.ts";
import type { Copy } from "./copy.ts";
import type { MoveSides } from "./end-move.ts";

/** How often it is asked whether transactions have ended. */
const lookEveryMs = 10;

export interface StopParts extends MoveSides {
  readonly tenant: TenantId;
  /** The tenant at the source and at the target. */
  readonly number: string;
  readonly arrivalNumber: string;
  readonly copy: Copy;
  /** After so long the source serves the tenant again. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** What a stop ended with. Why it is too long is said for an operator. */
export type Stopped =
  | { readonly kind: "ready" }
  | { readonly kind: "too_long"; readonly reason: string }
  | { readonly kind: "gone" }
  | { readonly kind: "differs"; readonly labels: readonly string[] };

/**
 * Has the source refuse the tenant, brings what is left, and compares the sides. With `ready` the source goes on
 * refusing it, and the switch may be made. With any other outcome the caller has the source serve it again.
 */
export async function stopAtSource(parts: StopParts): Promise<Stopped> {
  const { notes, source, target, tenant, number, arrivalNumber, copy, limitMs, signal } = parts;
  const begun = performance.now();
  const left = (): number => limitMs - (performance.now() - begun);
  if (!(await notes.stop(tenant))) return { kind: "gone" };
  const hidden = await source.hide(number, limitMs / 2);
  if (hidden === "gone") return { kind: "gone" };
  if (hidden === "busy") return tooLong("a write of the tenant did not end");
  // Applications take no lock. Those that found the tenant before have a lower id than this.
  const writersBelow = await source.writersBelow();
  while (!(await source.isQuietBelow(writersBelow))) {
    if (left() <= 0 || signal.aborted) return tooLong("a transaction at the source did not end");
    await pause(lookEveryMs, signal);
  }
  await copy.follow();
  const labels = await copy.differences();
  if (labels.length > 0) return { kind: "differs", labels };
  await target.prepare(arrivalNumber, await source.hidden(number));
  if (left() <= 0) return tooLong("the last changes took too long");
  return { kind: "ready" };
}

function tooLong(reason: string): Stopped {
  return { kind: "too_long", reason };
}
