import { toDuration, toTimestamp } from "../../condition/conversion.ts";
import { earliest, latest, longest, nanosecondsPerSecond } from "../../condition/time.ts";
import type { ArithmeticOperator, Literal } from "../../condition/tree.ts";
import { literalValue } from "../../condition/value.ts";
import { type Fragment, sql } from "../text/fragment.ts";
import { numericLiteral, type SqlValue, within } from "./value.ts";

type TimeKind = "timestamp" | "duration";
type TimeValue = SqlValue & { readonly kind: TimeKind };

/** `timestamp(literal)` or `duration(literal)`, worked out here. */
export function literalTime(kind: TimeKind, literal: Literal): SqlValue {
  const convert = kind === "timestamp" ? toTimestamp : toDuration;
  const time = convert(literalValue(literal));
  if (typeof time === "object" && time?.kind === kind) {
    return { kind, sql: numericLiteral(time.nanoseconds), simple: true, total: true };
  }
  return { kind, sql: sql`null::numeric`, simple: true, total: false };
}

/** A numeric of nanoseconds as a time; NULL when it is out of the range of its kind. */
export function timeValue(kind: TimeKind, nanoseconds: Fragment): SqlValue {
  const [least, greatest] = kind === "timestamp" ? [earliest, latest] : [-longest, longest];
  return { kind, sql: within(nanoseconds, least, greatest), simple: false, total: false };
}

/** `left + right` and `left - right` of times; undefined for what is no such sum. */
export function calculateTime(
  operator: ArithmeticOperator,
  left: SqlValue,
  right: SqlValue,
): SqlValue | undefined {
  if (!isTime(left) || !isTime(right)) return undefined;
  const [first, second] = [left.kind, right.kind];
  if (operator === "+" && !(first === "timestamp" && second === "timestamp")) {
    const kind = first === second ? "duration" : "timestamp";
    return timeValue(kind, sql`${left.sql} + ${right.sql}`);
  }
  if (operator === "-" && !(first === "duration" && second === "timestamp")) {
    const kind = first === second ? "duration" : "timestamp";
    return timeValue(kind, sql`${left.sql} - ${right.sql}`);
  }
  return undefined;
}

/** `int(timestamp)`: the whole seconds since 1970, rounded down. */
export function secondsOf(nanoseconds: Fragment): Fragment {
  // From the first year on, so that what is left out is always towards the past.
  const second = numericLiteral(nanosecondsPerSecond);
  return sql`
    (
      div(
        ${nanoseconds} - ${numericLiteral(earliest)}, ${second}
      ) + ${numericLiteral(earliest / nanosecondsPerSecond)}
    )::bigint
  `;
}

function isTime(value: SqlValue): value is TimeValue {
  return value.kind === "timestamp" || value.kind === "duration";
}
