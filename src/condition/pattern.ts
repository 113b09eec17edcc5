import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSException } from "re2js";

import { quote } from "../base/quote.ts";
import { fault } from "./value.ts";
import type { Fault, Outcome } from "./value.ts";

const longestPattern = 1_000;

const patterns = new LRUCache<string, RE2JS | Fault>({ max: 500 });

/**
 * Whether the pattern, in the syntax of RE2, matches any part of the text. The time is linear in
 * the length of the text for every pattern. This matters because both can come from a client.
 */
export function matches(text: string, pattern: string): Outcome {
  const compiled = readPattern(pattern);
  return isPattern(compiled) ? compiled.test(text) : compiled;
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
