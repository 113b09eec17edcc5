import { quote } from "../base/quote.ts";
import { checkedInt } from "./arithmetic.ts";
import { bytesOfText } from "./bytes.ts";
import { parseDuration, parseTimestamp, printDuration, printTimestamp } from "./time-text.ts";
import { nanosecondsPerSecond, timestamp } from "./time.ts";
import { fault, typeOf } from "./value.ts";
import type { Outcome, Value } from "./value.ts";

const trueTexts: readonly string[] = ["1", "t", "true", "TRUE", "True"];
const falseTexts: readonly string[] = ["0", "f", "false", "FALSE", "False"];
/** Matches each number in one way only: with several, refusing a text would take quadratic time. */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export function toBool(value: Value): Outcome {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return noConversion("bool", value);
  if (trueTexts.includes(value)) return true;
  if (falseTexts.includes(value)) return false;
  return fault(`${quote(value)} is not a boolean`);
}

/** For a double, the part before the point, if it fits. */
export function toInt(value: Value): Outcome {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") {
    // The doubles at both ends also stand for values beyond them, so both are out of range.
    return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : fault("integer overflow");
  }
  if (typeof value === "string") {
    return /^[+-]?\d{1,32}$/.test(value)
      ? checkedInt(BigInt(value.replace(/^\+/, "")))
      : fault(`${quote(value)} is not an integer`);
  }
  if (typeof value === "object" && value?.kind === "timestamp") {
    return floorSeconds(value.nanoseconds);
  }
  return noConversion("int", value);
}

export function toDouble(value: Value): Outcome {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string") return noConversion("double", value);
  return parseDouble(value) ?? fault(`${quote(value)} is not a double`);
}

export function toText(value: Value): Outcome {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return printDouble(value);
  if (value?.kind === "bytes") return decode(value.data);
  if (value?.kind === "timestamp") return printTimestamp(value.nanoseconds);
  if (value?.kind === "duration") return printDuration(value.nanoseconds);
  return noConversion("string", value);
}

export function toBytes(value: Value): Outcome {
  if (typeof value === "string") return { kind: "bytes", data: bytesOfText(value) };
  return typeof value === "object" && value?.kind === "bytes"
    ? value
    : noConversion("bytes", value);
}

/** An int is taken as seconds since 1970. */
export function toTimestamp(value: Value): Outcome {
  if (typeof value === "string") return parseTimestamp(value);
  if (typeof value === "bigint") return timestamp(value * nanosecondsPerSecond);
  return typeof value === "object" && value?.kind === "timestamp"
    ? value
    : noConversion("timestamp", value);
}

export function toDuration(value: Value): Outcome {
  if (typeof value === "string") return parseDuration(value);
  return typeof value === "object" && value?.kind === "duration"
    ? value
    : noConversion("duration", value);
}

function noConversion(target: string, value: Value): Outcome {
  return fault(`no such overload: ${target}(${typeOf(value)})`);
}

function floorSeconds(nanoseconds: bigint): bigint {
  const whole = nanoseconds / nanosecondsPerSecond;
  return nanoseconds < 0n && nanoseconds % nanosecondsPerSecond !== 0n ? whole - 1n : whole;
}

function decode(data: Uint8Array): Outcome {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return fault("the bytes are not UTF-8");
  }
}

function parseDouble(text: string): number | undefined {
  switch (text.toLowerCase()) {
    case "nan":
      return Number.NaN;
    case "inf":
    case "+inf":
    case "infinity":
    case "+infinity":
      return Number.POSITIVE_INFINITY;
    case "-inf":
    case "-infinity":
      return Number.NEGATIVE_INFINITY;
    default: {
      const value = decimal.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(value) ? value : undefined;
    }
  }
}

/** The shortest text that reads back as the same double. An exponent has at least two digits. */
function printDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  // In this range JavaScript writes no exponent either.
  if (power >= -4 && power < 21) return String(value);
  const size = String(Math.abs(power)).padStart(2, "0");
  return `${digits}e${power < 0 ? "-" : "+"}${size}`;
}
