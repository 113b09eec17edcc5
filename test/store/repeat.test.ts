import assert from "node:assert/strict";
import { test } from "node:test";

import { storageError } from "../../src/store/postgres/connect/driver-error.ts";
import { repeatOn } from "../../src/store/postgres/connect/repeat.ts";
import { fails } from "./engines.ts";

/** Work that fails with these codes of the driver, one after the other, and then succeeds. */
function failing(...codes: readonly string[]): {
  readonly work: () => Promise<string>;
  runs: number;
} {
  const state = {
    runs: 0,
    work: async () => {
      const code = codes[state.runs];
      state.runs += 1;
      if (code !== undefined) throw storageError(Object.assign(new Error("no"), { code }));
      return "done";
    },
  };
  return state;
}

test("work that fails in a way that is asked for is done again", async () => {
  for (const [fault, codes] of [
    ["conflict", ["40001", "40P01"]],
    [
      "unreached",
      ["ECONNREFUSED", "CONNECT_TIMEOUT", "ERR_STREAM_WRITE_AFTER_END", "53300", "57P03"],
    ],
    ["lost", ["CONNECTION_CLOSED", "ECONNRESET", "ERR_STREAM_DESTROYED", "57P01", "08006"]],
  ] as const) {
    const work = failing(...codes);
    assert.equal(await repeatOn([fault], codes.length, work.work), "done");
    assert.equal(work.runs, codes.length + 1);
  }
});

test("work that keeps failing fails after the given number of repeats", async () => {
  const thrice = failing("40001", "40P01", "40001");
  await fails(repeatOn(["conflict"], 2, thrice.work), "SERIALIZATION");
  assert.equal(thrice.runs, 3);
});

test("work that fails in any other way is not done again", async () => {
  for (const [code, kind] of [
    ["40001", "SERIALIZATION"],
    ["CONNECTION_CLOSED", "UNAVAILABLE"],
    ["CONNECTION_ENDED", "UNAVAILABLE"],
    ["28P01", "UNAVAILABLE"],
    ["3D000", "UNAVAILABLE"],
    ["25006", "UNAVAILABLE"],
    ["42P01", "INTERNAL"],
  ] as const) {
    const once = failing(code);
    await fails(repeatOn(["unreached"], 5, once.work), kind);
    assert.equal(once.runs, 1);
  }
});
