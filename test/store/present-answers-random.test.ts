/**
 * Questions of the present state to one instance that keeps answers, and to three over the same database,
 * beside writers of every kind and the collection of history.
 */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { interfaceOptions, openInterface } from "../sql-interface/interface-scene.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { keepingStore, runWriters } from "./answer-writers.ts";
import { openStore } from "./engines.ts";

for (const count of [1, 3]) {
  const rounds = caseCount({ short: 2, long: 50 });
  test(`no kept answer is older than its question, with ${count} of the instances`, async (t) => {
    await runThrough(t, count, rounds);
  });
}

async function runThrough(t: TestContext, count: number, rounds: number): Promise<void> {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const scene = await openInterface(
    {},
    { garbageCollection: { intervalMs: 200, windowMs: 1_000, timeoutMs: 60_000 } },
  );
  t.after(scene.close);
  let hits = 0;
  let misses = 0;
  const open = async () =>
    await openStore(scene.url, {
      sql: interfaceOptions,
      maxRetries: 50,
      slots: 3,
      // So little that answers and tails are pushed out as well.
      cache: { maxBytes: 40_000, maxEntries: 60 },
      telemetry: {
        ...noTelemetry,
        add: (name, amount) => {
          if (name === "pemba.answer.cache.hits") hits += amount;
          if (name === "pemba.answer.cache.misses") misses += amount;
        },
      },
    });
  const stores = await Promise.all(Array.from({ length: count }, open));
  try {
    const instances = stores.map(keepingStore);
    const tally = await runWriters({ scene, instances, writers: 5, rounds });
    assert.ok(
      hits > 0 && misses > 0 && tally.allowed > 0 && tally.listed > 0,
      `${hits} kept, ${misses} found anew, ${tally.allowed} allowed, ${tally.listed} listed`,
    );
    t.diagnostic(
      `${tally.compared} answers compared, ${tally.allowed} of them allowed, ${tally.listed} lists with ids, ` +
        `${tally.beside} beside changes, ` +
        `${hits} kept, ${misses} found anew, ${tally.schemas} schemas, ${tally.ended} tenants ended`,
    );
  } finally {
    await Promise.all(stores.map(async (store) => await store.close()));
  }
}
