import { randomBytes } from "node:crypto";

import type { SchemaVersion } from "../base/tuple.ts";

const digits = "0123456789abcdefghijklmnopqrstuv";
const length = 20;
const bitsPerDigit = 5n;

const pattern = new RegExp(`^[${digits}]{${length}}$`);

/** Of the 100 bits, the upper 48 are the time in milliseconds and the rest is random. */
const randomBits = 52n;

/**
 * A new version id, which sorts after `former` (by bytes) even if the clocks of the instances differ:
 * where the time is behind, it is the next one after `former`.
 */
export function newSchemaVersion(former: SchemaVersion | undefined, now: Date): SchemaVersion {
  const random = randomBytes(8).readBigUInt64BE() >> (64n - randomBits);
  const fresh = write((BigInt(now.getTime()) << randomBits) | random);
  return former === undefined || fresh > former ? fresh : write(read(former) + 1n);
}

/** Whether a text is as version ids are; that there is such a version it does not say. */
export function isSchemaVersion(text: string): text is SchemaVersion {
  return pattern.test(text);
}

function write(value: bigint): SchemaVersion {
  let text = "";
  for (let rest = value; text.length < length; rest >>= bitsPerDigit) {
    text = digits.charAt(Number(rest & 31n)) + text;
  }
  // The one place where a version id is made.
  return text as SchemaVersion;
}

function read(version: SchemaVersion): bigint {
  let value = 0n;
  for (const digit of version) value = (value << bitsPerDigit) | BigInt(digits.indexOf(digit));
  return value;
}
