import { quote } from "../base/quote.ts";
import { duration, nanosecondsPerSecond, timestamp } from "./time.ts";
import { fault } from "./value.ts";
import type { Outcome } from "./value.ts";

const timestampPattern =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The units of a duration. */
export const unitNanoseconds: ReadonlyMap<string, bigint> = new Map([
  ["h", 3_600n * nanosecondsPerSecond],
  ["m", 60n * nanosecondsPerSecond],
  ["s", nanosecondsPerSecond],
  ["ms", 1_000_000n],
  ["us", 1_000n],
  ["µs", 1_000n],
  ["ns", 1n],
]);

/** Reads an RFC 3339 timestamp. */
export function parseTimestamp(text: string): Outcome {
  const bad = fault(`${quote(text)} is not a timestamp of RFC 3339`);
  const match = timestampPattern.exec(text);
  if (match === null) return bad;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  if (year === undefined || month === undefined || day === undefined) return bad;
  if (hour === undefined || minute === undefined || second === undefined) return bad;
  if (hour > 23 || minute > 59 || second > 59) return bad;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A day that the month does not have overflows into the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return bad;
  date.setUTCHours(hour, minute, second);
  const [, , , , , , , fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = match;
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return bad;
  const ahead = (sign === "-" ? -60n : 60n) * BigInt(Number(zoneHour) * 60 + Number(zoneMinute));
  const seconds = BigInt(date.getTime() / 1_000) - ahead;
  return timestamp(seconds * nanosecondsPerSecond + BigInt(fraction.padEnd(9, "0")));
}

/** RFC 3339 in UTC, with as many fraction digits as needed. */
export function printTimestamp(nanoseconds: bigint): string {
  const rest = ((nanoseconds % nanosecondsPerSecond) + nanosecondsPerSecond) % nanosecondsPerSecond;
  const seconds = (nanoseconds - rest) / nanosecondsPerSecond;
  const whole = new Date(Number(seconds) * 1_000).toISOString().slice(0, -".000Z".length);
  return `${whole}${printFraction(rest)}Z`;
}

/** Reading does not yield. */
const mostParts = 100_000;

/** A whole number with more digits is out of range in every unit. */
const wholeDigits = 20;

/** Reads a duration such as `1h30m`, `-1.5h` or `0`. */
export function parseDuration(text: string): Outcome {
  const bad = fault(`${quote(text)} is not a duration such as 1h30m`);
  const [, sign, body = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (body === "0") return duration(0n);
  // Matches each number in one way only: with several, refusing a text would take quadratic time.
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.test(body)) return bad;
  let total = 0n;
  let parts = 0;
  for (const [, number = "", unit = ""] of body.matchAll(/([\d.]+)([^\d.]+)/g)) {
    parts += 1;
    if (parts > mostParts) return fault(`a duration has at most ${mostParts} parts`);
    const [whole = "", allDigits = ""] = number.split(".");
    const fraction = decidingDigits(allDigits);
    const scale = unitNanoseconds.get(unit) ?? 0n;
    total += BigInt(`0${whole.replace(/^0+/, "").slice(0, wholeDigits)}`) * scale;
    if (fraction !== "") total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return duration(sign === "-" ? -total : total);
}

/**
 * The digits of a fraction that decide how many nanoseconds it has in any unit. A nanosecond begins at a number whose
 * digits are all the same from the 14th on: a run of one digit from there is as good as one of it, and what
 * comes after the first other digit does not matter.
 */
function decidingDigits(digits: string): string {
  const rest = digits.slice(13);
  const other = /^(.)\1*(?!\1)(.)/.exec(rest)?.[2] ?? "";
  return digits.slice(0, 14) + other;
}

/** Seconds with as many digits as they need, such as `60.001s`. */
export function printDuration(nanoseconds: bigint): string {
  const positive = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = printFraction(positive % nanosecondsPerSecond);
  return `${nanoseconds < 0n ? "-" : ""}${positive / nanosecondsPerSecond}${fraction}s`;
}

function printFraction(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "";
  return `.${String(nanoseconds).padStart(9, "0").replace(/0+$/, "")}`;
}
