import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { createHealth } from "../../src/service/health.ts";

test("a process serves while its storage answers", async () => {
  let alive = true;
  const health = createHealth({
    ping: async () => {
      if (!alive) throw new Error("no connection");
    },
  });
  assert.equal(await health.serving(), true);
  alive = false;
  assert.equal(await health.serving(), false);
  alive = true;
  assert.equal(await health.serving(), true);
});

test("a draining process does not serve, though its storage answers", async () => {
  const health = createHealth({ ping: async () => {} });
  health.drain();
  assert.equal(await health.serving(), false);
});

test("storage that does not answer within two seconds does not serve", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const health = createHealth({ ping: async () => await new Promise(() => {}) });
  const answer = health.serving();
  t.mock.timers.tick(2_000);
  assert.equal(await answer, false);
});

test("probes at the same time ask storage once", async () => {
  const ping = mock.fn(async () => {});
  const health = createHealth({ ping });
  await Promise.all([health.serving(), health.serving(), health.serving()]);
  assert.equal(ping.mock.callCount(), 1);
});
