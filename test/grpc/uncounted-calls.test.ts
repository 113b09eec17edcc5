import assert from "node:assert/strict";
import { constants } from "node:http2";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { UncountedCalls } from "../../src/grpc/uncounted-calls.ts";

/** Streams that tell `closed` of their names. */
function streamsOn(closed: string[]): (
  name: string,
  session: object,
) => object & {
  readonly session: object;
  close(code: number): void;
} {
  return (name, session) => ({
    session,
    close: (code) => {
      assert.equal(code, constants.NGHTTP2_ENHANCE_YOUR_CALM);
      closed.push(name);
    },
  });
}

test("too many calls close those that were opened first on the connection that has the most", async () => {
  const closed: string[] = [];
  const streamOn = streamsOn(closed);
  const calls = new UncountedCalls(3);
  const [few, many, other] = [{}, {}, {}];
  calls.add(streamOn("few 1", few));
  for (const nth of [1, 2]) calls.add(streamOn(`many ${nth}`, many));
  // So many are not too many, and nothing is under way when more come.
  await nextRound();
  calls.add(streamOn("many 3", many));
  calls.add(streamOn("other 1", other));
  assert.deepEqual(closed, []);
  await nextRound();
  assert.deepEqual(closed, ["many 1", "many 2"]);
  await nextRound();
  assert.equal(closed.length, 2);
});

test("no call is closed up to the limit, nor one that uses a share or is over by then", async () => {
  const closed: string[] = [];
  const streamOn = streamsOn(closed);
  const calls = new UncountedCalls(2);
  const session = {};
  const first = streamOn("first", session);
  calls.add(first);
  calls.add(streamOn("second", session));
  await nextRound();
  calls.add(streamOn("third", session));
  calls.remove(first);
  await nextRound();
  assert.deepEqual(closed, []);
});

test("of very many calls a few are closed in each round of the event loop", async () => {
  const closed: string[] = [];
  const streamOn = streamsOn(closed);
  const calls = new UncountedCalls(10);
  const session = {};
  for (let nth = 0; nth < 80; nth++) calls.add(streamOn(String(nth), session));
  const counts: number[] = [];
  for (let round = 0; round < 4; round++) {
    await nextRound();
    counts.push(closed.length);
  }
  assert.deepEqual(counts, [32, 64, 70, 70]);
});
