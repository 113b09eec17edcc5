import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { createMemoryStore } from "../../src/store/memory/store.ts";
import { follow } from "./change-streams.ts";
import { tenantWithSchema, write } from "./engines.ts";

const messages = 60;
const workMs = 2;

test("a stream lets others run, also when its messages are taken at once", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1024, watch: { readAheadMax: 5 } });
  const tenant = await tenantWithSchema(store);
  const start = await write(store, tenant, {});
  for (let number = 0; number < messages; number++) {
    await write(store, tenant, { tuples: [`doc:${number}#owner@user:a`] });
  }
  const follower = await follow(store, tenant, start);
  let rounds = 0;
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      await nextRound();
      rounds++;
    }
  })();
  for (let count = 0; count < messages; count++) {
    const { changes } = await follower.next();
    assert.equal(changes.length, 1);
    // What it takes to send the message.
    const end = performance.now() + workMs;
    while (performance.now() < end);
  }
  isOver = true;
  // Far fewer than there are slices in the time of the work.
  assert.ok(rounds >= 5, String(rounds));
  await others;
  await follower.leave();
  await store.close();
});
