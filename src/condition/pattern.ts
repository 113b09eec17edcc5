import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSException } from "re2js";

import { quote } from "../base/quote.ts";
import { partsOfPattern } from "./pattern-size.ts";
import { fault } from "./value.ts";
import type { Fault, Outcome } from "./value.ts";
import { spend, type Work } from "./work.ts";

const longestPattern = 1_000;

/** With its repeats written out: each part takes a hundred bytes, and some microseconds to be compiled. */
const mostParts = 2_000;

/** A part of the pattern may be looked at at each place of the text. */
const mostPlaces = 1_000_000;

/** What it costs to compile a part, as steps of an evaluation. */
const stepsOfPart = 50;

/** So many places take as long as a step of an evaluation. */
const placesOfStep = 5;

const patterns = new LRUCache<string, RE2JS | Fault>({
  max: 500,
  maxSize: 100_000,
  sizeCalculation: (compiled) => (isPattern(compiled) ? compiled.programSize() : 1),
});

/**
 * Whether the pattern, in the syntax of RE2, matches any part of the text. The time is linear in
 * the length of the text for every pattern, and in the size of the pattern. This matters because both can come from a
 * client. A fault if they are too long for each other.
 */
export function matches(text: string, pattern: string, work: Work): Outcome {
  const compiled = readPattern(pattern);
  if (!isPattern(compiled)) return compiled;
  // Each counts once, whether or not an earlier evaluation has compiled it.
  if (!work.patterns.has(pattern)) spend(work, partsOfPattern(pattern) * stepsOfPart);
  work.patterns.add(pattern);
  const places = text.length * compiled.programSize();
  if (places > mostPlaces) {
    return fault(
      `a text of ${text.length} characters is too long for the pattern ${quote(pattern)}`,
    );
  }
  spend(work, Math.floor(places / placesOfStep));
  return compiled.test(text);
}

/** What is wrong with a pattern. Undefined if it is valid. */
export function patternFault(pattern: string): string | undefined {
  const compiled = readPattern(pattern);
  return isPattern(compiled) ? undefined : compiled.message;
}

function readPattern(pattern: string): RE2JS | Fault {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const compiled = compile(pattern);
  if (pattern.length <= longestPattern) patterns.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): RE2JS | Fault {
  if (pattern.length > longestPattern) {
    return fault(`a pattern has at most ${longestPattern} characters`);
  }
  if (partsOfPattern(pattern) > mostParts) {
    return fault(`${quote(pattern)} has more than ${mostParts} parts with its repeats written out`);
  }
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, "");
    return fault(`${quote(pattern)} is not a pattern of RE2: ${reason}`);
  }
}

function isPattern(compiled: RE2JS | Fault): compiled is RE2JS {
  return compiled instanceof RE2JS;
}
