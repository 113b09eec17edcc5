import type { MethodName } from "../../condition/standard-library.ts";
import type { TimePart } from "../../condition/time-part.ts";
import { earliest, nanosecondsPerSecond } from "../../condition/time.ts";
import { type Fragment, sql } from "../text/fragment.ts";
import { NoTranslation, numericLiteral, type SqlValue } from "./value.ts";

const minute = 60n * nanosecondsPerSecond;
const hour = 60n * minute;
const day = 24n * hour;
const millisecond = nanosecondsPerSecond / 1_000n;

export function isTimePart(method: MethodName): method is TimePart {
  return method.startsWith("get");
}

/** `time.part()`: of a timestamp in UTC. */
export function timePart(part: TimePart, time: SqlValue): SqlValue {
  const common = { kind: "int", simple: false, total: time.total } as const;
  switch (time.kind) {
    case "timestamp":
      return { ...common, sql: sql`${partOfTimestamp(part, time.sql)}::bigint` };
    case "duration":
      return { ...common, sql: sql`${partOfDuration(part, time.sql)}::bigint` };
    default:
      throw new NoTranslation(`\`${part}\` of ${time.kind}`);
  }
}

function partOfTimestamp(part: TimePart, nanoseconds: Fragment): Fragment {
  // From the first year on, where no number is negative.
  const since = sql`(${nanoseconds} - ${numericLiteral(earliest)})`;
  const date = sql`(make_date(1, 1, 1) + ${quotient(since, day)}::integer)`;
  switch (part) {
    case "getDate":
      return sql`extract(day from ${date})`;
    case "getDayOfMonth":
      return sql`(extract(day from ${date}) - 1)`;
    case "getDayOfWeek":
      return sql`extract(dow from ${date})`;
    case "getDayOfYear":
      return sql`(extract(doy from ${date}) - 1)`;
    case "getFullYear":
      return sql`extract(year from ${date})`;
    case "getMonth":
      return sql`(extract(month from ${date}) - 1)`;
    case "getHours":
      return remainder(quotient(since, hour), 24n);
    case "getMinutes":
      return remainder(quotient(since, minute), 60n);
    case "getSeconds":
      return remainder(quotient(since, nanosecondsPerSecond), 60n);
    case "getMilliseconds":
      return remainder(quotient(since, millisecond), 1_000n);
  }
}

/** Of the whole, save that milliseconds are the odd ones; as in CEL, all are cut towards zero. */
function partOfDuration(part: TimePart, nanoseconds: Fragment): Fragment {
  switch (part) {
    case "getHours":
      return quotient(nanoseconds, hour);
    case "getMinutes":
      return quotient(nanoseconds, minute);
    case "getSeconds":
      return quotient(nanoseconds, nanosecondsPerSecond);
    case "getMilliseconds":
      return remainder(quotient(nanoseconds, millisecond), 1_000n);
    case "getDate":
    case "getDayOfMonth":
    case "getDayOfWeek":
    case "getDayOfYear":
    case "getFullYear":
    case "getMonth":
      throw new NoTranslation(`\`${part}\` of a duration`);
  }
}

function quotient(dividend: Fragment, divisor: bigint): Fragment {
  return sql`div(${dividend}, ${numericLiteral(divisor)})`;
}

function remainder(dividend: Fragment, divisor: bigint): Fragment {
  return sql`mod(${dividend}, ${numericLiteral(divisor)})`;
}
