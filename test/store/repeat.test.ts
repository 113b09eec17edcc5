import assert from "node:assert/strict";
import { test } from "node:test";

import { type ErrorCode, PembaError } from "../../src/base/error.ts";
import { repeatOnConflict } from "../../src/store/postgres/repeat.ts";
import { fails } from "./engines.ts";

/** Work that fails with these codes, one after the other, and then succeeds. */
function failing(...codes: readonly ErrorCode[]): {
  readonly work: () => Promise<string>;
  runs: number;
} {
  const state = {
    runs: 0,
    work: async () => {
      const code = codes[state.runs];
      state.runs += 1;
      if (code !== undefined) throw new PembaError(code, "no");
      return "done";
    },
  };
  return state;
}

test("work that loses a conflict is done again", async () => {
  const twice = failing("SERIALIZATION", "SERIALIZATION");
  assert.equal(await repeatOnConflict(2, twice.work), "done");
  assert.equal(twice.runs, 3);
});

test("work that keeps losing fails after the given number of repeats", async () => {
  const thrice = failing("SERIALIZATION", "SERIALIZATION", "SERIALIZATION");
  await fails(repeatOnConflict(2, thrice.work), "SERIALIZATION");
  assert.equal(thrice.runs, 3);
});

test("work that fails in any other way is not done again", async () => {
  for (const code of ["UNAVAILABLE", "INTERNAL", "VALIDATION"] as const) {
    const once = failing(code);
    await fails(repeatOnConflict(5, once.work), code);
    assert.equal(once.runs, 1);
  }
});
