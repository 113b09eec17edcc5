import assert from "node:assert/strict";
import { test } from "node:test";

import { createMemoryStore } from "../../src/store/memory/store.ts";
import { tenantWithSchema, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { observed } from "../telemetry/observed.ts";
import { Addresses, mayView, startInstance } from "./instances.ts";

const traceId = "5".repeat(32);

test("a check that is sent on stays in its trace, and one whose client leaves is not counted as failed", async (t) => {
  const { telemetry, collector, scrapeUrl, flush } = await observed(t);
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const tenant = await tenantWithSchema(store);
  const snapToken = await write(store, tenant, { tuples: ["doc:1#viewer@user:user0"] });
  const addresses = new Addresses();
  let delay = async (): Promise<void> => {};
  const first = await startInstance(store, addresses, { telemetry });
  const second = await startInstance(store, addresses, {
    telemetry,
    delay: async () => await delay(),
  });
  t.after(() => [first, second].forEach((instance) => instance.close()));
  await until(async () => first.peers.size === 2 || undefined);
  const users = Array.from({ length: 20 }, (_, nth) => `user${nth}`);
  const ask = async (signal?: AbortSignal): Promise<void> => {
    for (const id of users) {
      await first.store.permissions.check(tenant, mayView(id, snapToken, { signal }));
    }
  };
  const answered = async (): Promise<number> => {
    const measures = await (await fetch(scrapeUrl)).text();
    assert.match(measures, /pemba_peer_checks_total\{outcome="failed"\} 0\b/);
    const [, count] = /pemba_peer_checks_total\{outcome="answered"\} (\d+)/.exec(measures) ?? [];
    return Number(count);
  };
  // After this it sends no check to itself.
  await ask();
  const asked = second.asked.length;
  const answeredBefore = await answered();
  const record = telemetry.begin({
    method: "permissions.check",
    transport: "rest",
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    tracestate: undefined,
  });
  await record.run(async () => await ask());
  record.end("OK");

  const sent = second.asked.length - asked;
  assert.ok(sent > 0);
  const leaving = new AbortController();
  delay = async () => {
    leaving.abort();
    await new Promise<void>(() => {});
  };
  await assert.rejects(ask(leaving.signal), { code: "CANCELLED" });
  assert.equal((await answered()) - answeredBefore, sent);

  await flush();
  const steps = collector.spans.filter((span) => span.traceId === traceId);
  const peers = steps.filter(({ attributes }) => attributes["pemba.transport"] === "peer");
  assert.equal(peers.length, sent);
});
