import assert from "node:assert/strict";
import { test } from "node:test";

import { partsOfPattern } from "../../src/condition/pattern-size.ts";

test("the parts of a pattern are counted with its repeats written out", () => {
  for (const [pattern, parts] of [
    ["abc", 3],
    ["a{3}", 3],
    ["a{2,5}", 5],
    ["a{2,}", 2],
    ["a{0}", 1],
    ["(?:ab){3}", 9],
    ["(?P<name>ab){3}", 9],
    ["(?<name>ab){3}", 9],
    ["(?i)ab{3}", 4],
    ["((a{10}){10}|b){2}", 226],
    ["[]a{9}]{3}", 3],
    ["[^]{}]{4}", 4],
    ["[[:alpha:]]{5}x", 6],
    ["\\p{Greek}{7}\\pL{2}", 109],
    ["\\x{10FFFF}{7}", 7],
    ["\\x41{7}", 7],
    ["\\Qa{1000}\\E", 7],
    ["\\({3}", 3],
    // Case is looked up for each character of a range.
    ["[B-\\x{1e000}]", 1],
    ["(?i)[B-\\x{1e000}]", 1229],
    ["(?i)[B-\u{1e000}\\x{80}-\\x{10ffff}]{2}", 2481],
    ["(?s-i:[\\101-\\x{1e8}])", 6],
    ["(?i)[a-z0-9_]{3}", 3],
    // None of these is a pattern.
    ["(a{4}", 4],
    ["a)", 2],
    ["[", 1],
    ["\\", 1],
    ["{9}", 0],
    ["", 0],
  ] as const) {
    assert.equal(partsOfPattern(pattern), parts, pattern);
  }
});
