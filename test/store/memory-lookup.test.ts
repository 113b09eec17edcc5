import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { LookupEntityQuestion, Store } from "../../src/store/store.ts";
import { factsOf } from "../differential/facts-text.ts";

/*
 * What a lookup of the memory engine costs others, who share its thread: each candidate is denied,
 * after a walk that is long.
 */

const tenant = "t1" as TenantId;
const chain = 300;
const candidates = 1_000;

const question: LookupEntityQuestion = {
  schemaVersion: undefined,
  snapToken: undefined,
  depth: 1_000,
  context: emptyContext,
  after: undefined,
  limit: 10,
  entityType: "doc",
  permission: "view",
  subject: { type: "user", id: "ada", relation: "" },
  scope: new Map(),
};

async function slowStore(): Promise<Store> {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1024 });
  await store.schemas.write(tenant, {
    text: `
      entity user {}
      entity folder { relation parent @folder  relation banned @user  permission out = banned or parent.out }
      entity doc { relation viewer @user  relation folder @folder  permission view = viewer not folder.out }
    `,
  });
  const folders = Array.from(
    { length: chain },
    (_, index) => `folder:${index}#parent@folder:${index + 1}`,
  );
  const docs = Array.from({ length: candidates }, (_, index) => [
    `doc:${index}#viewer@user:ada`,
    `doc:${index}#folder@folder:0`,
  ]);
  await store.data.write(tenant, {
    schemaVersion: undefined,
    ...factsOf([...folders, `folder:${chain}#banned@user:ada`, ...docs.flat()]),
  });
  return store;
}

test("others are answered while a lookup goes through many candidates", async () => {
  const store = await slowStore();
  let isDone = false;
  const lookup = store.lookups.entities(tenant, question).finally(() => (isDone = true));
  let rounds = 0;
  while (!isDone) {
    await nextRound();
    rounds += 1;
  }
  assert.ok(rounds > 3, `${rounds} rounds`);
  assert.deepEqual((await lookup).items, []);
});

test("a lookup whose caller has left ends", async () => {
  const store = await slowStore();
  const leaving = new AbortController();
  const lookup = store.lookups.entities(tenant, { ...question, signal: leaving.signal });
  await nextRound();
  leaving.abort();
  await assert.rejects(lookup, { code: "CANCELLED" });
});
