import { fault } from "./value.ts";
import type { Outcome, Value } from "./value.ts";

export const nanosecondsPerSecond = 1_000_000_000n;

/** The years 1 to 9999, in nanoseconds since 1970, both ends included. */
export const earliest = -62_135_596_800n * nanosecondsPerSecond;
export const latest = 253_402_300_800n * nanosecondsPerSecond - 1n;
/** The range of 64 bits of nanoseconds, about 292 years in each direction. */
export const longest = 2n ** 63n - 1n;

/** A timestamp of that many nanoseconds since 1970, or a fault if it is out of range. */
export function timestamp(nanoseconds: bigint): Outcome {
  return nanoseconds < earliest || nanoseconds > latest
    ? fault("timestamp out of range")
    : { kind: "timestamp", nanoseconds };
}

/** A duration of that many nanoseconds, or a fault if it is out of range. */
export function duration(nanoseconds: bigint): Outcome {
  return nanoseconds < -longest || nanoseconds > longest
    ? fault("duration out of range")
    : { kind: "duration", nanoseconds };
}

/** `left + right` if both are times and at most one is a timestamp, else undefined. */
export function addTime(left: Value, right: Value): Outcome | undefined {
  if (!isTime(left) || !isTime(right)) return undefined;
  const sum = left.nanoseconds + right.nanoseconds;
  if (left.kind === "duration" && right.kind === "duration") return duration(sum);
  return left.kind === right.kind ? undefined : timestamp(sum);
}

/**
 * `left - right` if both are times and it does not subtract a timestamp from a duration, else
 * undefined.
 */
export function subtractTime(left: Value, right: Value): Outcome | undefined {
  if (!isTime(left) || !isTime(right)) return undefined;
  const difference = left.nanoseconds - right.nanoseconds;
  if (left.kind === right.kind) return duration(difference);
  return left.kind === "timestamp" ? timestamp(difference) : undefined;
}

function isTime(
  value: Value,
): value is Extract<Value, { readonly kind: "timestamp" | "duration" }> {
  return (
    typeof value === "object" &&
    value !== null &&
    (value.kind === "timestamp" || value.kind === "duration")
  );
}
