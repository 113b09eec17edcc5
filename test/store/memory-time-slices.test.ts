import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { CheckItem, Store } from "../../src/store/store.ts";
import { factsOf } from "../differential/facts-text.ts";

/*
 * What one question costs others, who share the thread of the memory engine: a walk through very many
 * folders, groups of which very many are members, a tree of very many nodes.
 */

const tenant = "t1" as TenantId;
const chain = 20_000;
const crowd = 20_000;

let store: Store;

before(async () => {
  store = createMemoryStore({ maxSchemaCacheBytes: 1024 });
  await store.schemas.write(tenant, {
    text: `
      entity user {}
      entity group { relation member @user @group#member }
      entity folder { relation parent @folder  relation owner @user  permission own = owner or parent.own }
      entity doc {
        relation folder @folder
        relation viewer @group#member
        relation banned @group#member
        permission own = folder.own
        permission view = viewer
        permission seen = viewer not banned
      }
    `,
  });
  const folders = Array.from(
    { length: chain },
    (_, index) => `folder:${index}#parent@folder:${index + 1}`,
  );
  const groups = Array.from({ length: crowd }, (_, index) => [
    `group:all#member@group:${index}#member`,
    `group:${index}#member@group:all#member`,
  ]);
  await store.data.write(tenant, {
    schemaVersion: undefined,
    ...factsOf([
      ...folders,
      ...groups.flat(),
      "doc:1#folder@folder:0",
      "doc:1#viewer@group:all#member",
      "doc:1#banned@group:all#member",
      ...Array.from({ length: 9_000 }, (_, index) => `doc:wide#viewer@group:${index}#member`),
    ]),
  });
});

function ask(signal: AbortSignal | undefined, permissions: readonly string[]): Promise<unknown> {
  const items = permissions.map((permission): CheckItem => ({
    entity: { type: "doc", id: "1" },
    permission,
    subject: { type: "user", id: "ada", relation: "" },
    arguments: [],
  }));
  return store.permissions.check(tenant, { ...frame, items, path: (_, field) => field, signal });
}

const frame = {
  schemaVersion: undefined,
  snapToken: undefined,
  depth: 100_000,
  context: emptyContext,
};

const questions: ReadonlyMap<string, (signal?: AbortSignal) => Promise<unknown>> = new Map([
  ["a check that walks far", (signal) => ask(signal, ["own"])],
  ["a check of groups with very many members", (signal) => ask(signal, ["view"])],
  ["a bulk check", (signal) => ask(signal, ["view", "seen", "own"])],
  [
    "a lookup with one long check",
    (signal) =>
      store.lookups.entities(tenant, {
        ...frame,
        after: undefined,
        limit: 10,
        entityType: "doc",
        permission: "own",
        subject: { type: "folder", id: String(chain), relation: "own" },
        scope: new Map(),
        signal,
      }),
  ],
  [
    "an expand",
    (signal) =>
      store.permissions.expand(tenant, {
        ...frame,
        entity: { type: "doc", id: "wide" },
        permission: "viewer",
        arguments: [],
        signal,
      }),
  ],
]);

for (const [name, question] of questions) {
  test(`other work runs during ${name}`, async () => {
    let isDone = false;
    const asked = question()
      .catch(() => {})
      .finally(() => (isDone = true));
    let rounds = 0;
    while (!isDone) {
      await nextRound();
      rounds += 1;
    }
    await asked;
    assert.ok(rounds > 3, `${rounds} rounds`);
  });

  test(`${name} ends when its caller has left`, async () => {
    const leaving = new AbortController();
    const asked = question(leaving.signal);
    await nextRound();
    leaving.abort();
    await assert.rejects(asked, { code: "CANCELLED" });
  });
}
