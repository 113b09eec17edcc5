import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { endOfString, isQuoteCode, OpenStrings } from "../../src/language/skip.ts";

test("a pass over a text finds the strings that a search at each quote finds", () => {
  const pieces = fc.constantFrom("'", '"', "\\", "r", "a", "\n", "'''", '"""', " ");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (words) => {
      const text = words.join("");
      const open = new OpenStrings();
      for (let offset = 0; offset < text.length;) {
        if (!isQuoteCode(text.charCodeAt(offset))) {
          offset += 1;
          continue;
        }
        const alone = endOfString(text, offset, new OpenStrings());
        assert.equal(endOfString(text, offset, open), alone);
        offset = alone ?? offset + 1;
      }
    }),
    { numRuns: 20_000 },
  );
});
