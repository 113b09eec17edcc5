import { LRUCache } from "lru-cache";

import { quote } from "../base/quote.ts";
import type { MethodName } from "./standard-library.ts";
import { nanosecondsPerSecond } from "./time.ts";
import { fault } from "./value.ts";
import type { Outcome } from "./value.ts";

export type TimePart = Extract<MethodName, `get${string}`>;

const nanosecondsPerMillisecond = 1_000_000n;
const millisecondsPerDay = 86_400_000;

/**
 * A part of a timestamp in a time zone: a name of the IANA database, or an offset such as `-08:00`.
 * Months, days of a month (except `getDate`), days of a week and days of a year count from 0.
 */
export function timestampPart(part: TimePart, nanoseconds: bigint, zone: string): Outcome {
  const milliseconds = floorDivide(nanoseconds, nanosecondsPerMillisecond);
  const offset = zoneOffset(zone, milliseconds);
  if (offset === undefined) return fault(`unknown time zone ${quote(zone)}`);
  return BigInt(partOf(new Date(milliseconds + offset), part));
}

/** A part of a duration. Undefined for parts that a duration does not have. */
export function durationPart(part: TimePart, nanoseconds: bigint): Outcome | undefined {
  switch (part) {
    case "getHours":
      return nanoseconds / (3_600n * nanosecondsPerSecond);
    case "getMinutes":
      return nanoseconds / (60n * nanosecondsPerSecond);
    case "getSeconds":
      return nanoseconds / nanosecondsPerSecond;
    case "getMilliseconds":
      // The other parts convert the whole duration. For this one, the standard asks for the
      // milliseconds of the last second alone.
      return (nanoseconds % nanosecondsPerSecond) / nanosecondsPerMillisecond;
    case "getDate":
    case "getDayOfMonth":
    case "getDayOfWeek":
    case "getDayOfYear":
    case "getFullYear":
    case "getMonth":
      return undefined;
  }
}

function partOf(date: Date, part: TimePart): number {
  switch (part) {
    case "getDate":
      return date.getUTCDate();
    case "getDayOfMonth":
      return date.getUTCDate() - 1;
    case "getDayOfWeek":
      return date.getUTCDay();
    case "getDayOfYear": {
      const newYear = new Date(date);
      newYear.setUTCMonth(0, 1);
      return Math.round((date.getTime() - newYear.getTime()) / millisecondsPerDay);
    }
    case "getFullYear":
      return date.getUTCFullYear();
    case "getHours":
      return date.getUTCHours();
    case "getMilliseconds":
      return date.getUTCMilliseconds();
    case "getMinutes":
      return date.getUTCMinutes();
    case "getMonth":
      return date.getUTCMonth();
    case "getSeconds":
      return date.getUTCSeconds();
  }
}

/** The offset of the zone from UTC at that moment, in milliseconds. */
function zoneOffset(zone: string, milliseconds: number): number | undefined {
  if (zone === "UTC") return 0;
  const fixed = readOffset(zone);
  if (fixed !== undefined) return fixed;
  try {
    const parts = formatterOf(zone).formatToParts(milliseconds);
    const name = parts.find((part) => part.type === "timeZoneName")?.value ?? "";
    return name === "GMT" ? 0 : readOffset(name.slice("GMT".length));
  } catch {
    return undefined;
  }
}

/** Making one takes ten times as long as using it. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });

/** Throws for a zone that there is not. */
function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  formatters.set(zone, made);
  return made;
}

function readOffset(text: string): number | undefined {
  const match = /^([+-]?)(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, hours, minutes, seconds = "0"] = match;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const ahead = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return (sign === "-" ? -1_000 : 1_000) * ahead;
}

function floorDivide(value: bigint, divisor: bigint): number {
  const rest = ((value % divisor) + divisor) % divisor;
  return Number((value - rest) / divisor);
}
