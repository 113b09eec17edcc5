import { unitNanoseconds } from "../../condition/time-text.ts";
import { nanosecondsPerSecond } from "../../condition/time.ts";
import { type Fragment, join, literal, sql } from "../text/fragment.ts";
import { timeValue } from "./time.ts";
import {
  type Names,
  NoTranslation,
  numericLiteral,
  repeatOne,
  type SqlValue,
  toText,
} from "./value.ts";

/** Years that have a 29th of February, the year 0 among them. */
const leapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const monthAndDay = [
  "(?:0[13-9]|1[0-2])-(?:0[1-9]|[12][0-9]|30)",
  "(?:0[13578]|1[02])-31",
  "02-(?:0[1-9]|1[0-9]|2[0-8])",
].join("|");
const hourAndMinute = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";

/** Exactly the timestamps of RFC 3339: a text that matches can be cast without an error. */
const timestampPattern = [
  `^(?:[0-9]{4}-(?:${monthAndDay})|${leapYear}-02-29)`,
  `[Tt]${hourAndMinute}:[0-5][0-9](?:[.][0-9]{1,9})?`,
  `(?:[Zz]|[+-]${hourAndMinute})$`,
].join("");

const units = [...unitNanoseconds.keys()].join("|");
const durationPattern = `^[+-]?(?:0|(?:(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:${units}))+)$`;
const durationPart = `([0-9]*)[.]?([0-9]*)(${units})`;

/** `timestamp(value)`, of text or of seconds since 1970; NULL where it is none. */
export function toTimestamp(names: Names, value: SqlValue): SqlValue {
  if (value.kind === "timestamp") return value;
  const second = numericLiteral(nanosecondsPerSecond);
  if (value.kind === "int") return timeValue("timestamp", sql`${value.sql} * ${second}`);
  return timeValue("timestamp", readText(names, value, timestampPattern, timestampOf));
}

/** `duration(value)`; NULL where it is none. */
export function toDuration(names: Names, value: SqlValue): SqlValue {
  if (value.kind === "duration") return value;
  return timeValue(
    "duration",
    readText(names, value, durationPattern, (text) => durationOf(names, text)),
  );
}

function readText(
  names: Names,
  value: SqlValue,
  pattern: string,
  read: (text: Fragment) => Fragment,
): Fragment {
  const text = toText(names, value);
  if (text === undefined) throw new NoTranslation(`the time of ${value.kind}`);
  return repeatOne(
    names,
    text,
    (found) => sql`case when (${found}) collate "C" ~ ${literal(pattern)} then ${read(found)} end`,
  );
}

/** The nanoseconds since 1970 of a text that matches. */
function timestampOf(text: Fragment): Fragment {
  const part = (from: Fragment, size: Fragment): Fragment =>
    sql`substr(${text}, ${from}, ${size})::integer`;
  // Postgres has no year 0, where a timestamp ahead of UTC may fall: the calendar repeats itself
  // every 400 years.
  const date = sql`
    make_date(${part(sql`1`, sql`4`)} + 400, ${part(sql`6`, sql`2`)}, ${part(sql`9`, sql`2`)})
  `;
  const days = sql`(${date} - make_date(2370, 1, 1))::bigint`;
  const minutes = sql`
    (
      ${days} * 24 + ${part(sql`12`, sql`2`)}
    ) * 60 + ${part(sql`15`, sql`2`)} - ${offsetMinutes(text)}
  `;
  const seconds = sql`(${minutes}) * 60 + ${part(sql`18`, sql`2`)}`;
  const fraction = sql`rpad(coalesce(substring(${text} from '[.]([0-9]+)'), ''), 9, '0')::numeric`;
  return sql`(${seconds}) * ${numericLiteral(nanosecondsPerSecond)} + ${fraction}`;
}

function offsetMinutes(text: Fragment): Fragment {
  const sign = sql`case left(right(${text}, 6), 1) when '-' then -1 else 1 end`;
  return sql`
    case
      when right(${text}, 1) in ('Z', 'z') then 0
      else (${sign}) * (left(right(${text}, 5), 2)::integer * 60 + right(${text}, 2)::integer)
    end
  `;
}

/**
 * The nanoseconds of a text that matches, however many digits it has. Of a whole number, 20 digits
 * without leading zeros are out of range already. Of a fraction of any unit, a nanosecond begins at
 * a number whose digits are all the same from the 14th on: so a run of one digit from there is as
 * good as one of it, and what comes after the first other digit does not matter.
 */
function durationOf(names: Names, text: Fragment): Fragment {
  const [part, unit] = [names.next(), names.next()];
  const [before, after] = [sql`${part}.found[1]`, sql`${part}.found[2]`];
  const whole = sql`('0' || left(ltrim(${before}, '0'), 20))::numeric`;
  const rest = sql`substr(${after}, 14)`;
  const digits = sql`left(${after}, 14) || left(ltrim(${rest}, left(${rest}, 1)), 1)`;
  const fraction = sql`('0.' || ${digits} || '0')::numeric`;
  const cases = [...unitNanoseconds].map(
    ([name, nanoseconds]) => sql`when ${literal(name)} then ${numericLiteral(nanoseconds)}`,
  );
  const total = sql`select sum(${whole} * ${unit}.size + trunc(${fraction} * ${unit}.size))
    from regexp_matches(${text}, ${literal(durationPart)}, 'g') ${part}(found)
    cross join lateral (select case ${part}.found[3] ${join(cases, " ")} end) ${unit}(size)`;
  return sql`
    case
      when right(${text}, 1) = '0' then 0
      else case left(${text}, 1) when '-' then -1 else 1 end * (${total})
    end
  `;
}
