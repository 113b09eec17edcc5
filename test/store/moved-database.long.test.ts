/**
 * A database that is dumped and restored into another cluster, whose transaction ids have nothing to
 * do with those of the first: far behind them, here, so that every stored id lies in the future.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { createTestDatabase } from "../support/database.ts";
import { type Carrier, carriers } from "../support/dump.ts";
import { startPostgresBinaries } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";
import { allowed, attribute, fails, openStore, tenantWithSchema, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { connect } from "./open-write.ts";
import { stateAt } from "./state.ts";

/** A cluster of its own for copied rows; a dump program may be too old for that one's version. */
async function startSource(t: TestContext, { name }: Carrier): Promise<string> {
  if (name === "copied rows") {
    const server = await startPostgresBinaries(serverSettings, "own");
    t.after(server.stop);
    return server.url;
  }
  const database = await createTestDatabase();
  t.after(database.drop);
  return database.url;
}

/** Takes transaction ids until the counter of the cluster is far ahead of a new one. */
async function runAhead(url: string): Promise<void> {
  const sql = connect(url, 1);
  await sql.unsafe(`
    do $$ begin
      for count in 1..50000 loop
        perform pg_current_xact_id();
        commit;
      end loop;
    end $$
  `);
  await sql.end();
}

const limit = (data: number, id = "1"): ReturnType<typeof attribute> =>
  attribute("limit", { type: "integer", data }, id);

for (const carrier of carriers) {
  test(`a database restored in a cluster with a lower counter goes on where it was (${carrier.name})`, async (t) => {
    const from = await startSource(t, carrier);
    const why = await carrier.unfit(from);
    if (why !== undefined) return t.skip(why);
    await runAhead(from);
    const target = await startPostgresBinaries(serverSettings, "own");
    t.after(target.stop);

    const original = await openStore(from);
    const [tenant, neighbour] = [
      await tenantWithSchema(original),
      await tenantWithSchema(original),
    ];
    const old = [
      await write(original, tenant, {}),
      await write(original, tenant, {
        tuples: ["doc:1#owner@user:a", "doc:1#viewer@group:g#member", "group:g#member@user:b"],
        attributes: [limit(1)],
      }),
      await write(original, tenant, { attributes: [limit(2)] }),
      await remove(original, tenant, { tuples: { subjectIds: ["a"] } }),
      await write(original, tenant, { tuples: ["doc:2#owner@user:a"] }),
    ];
    await write(original, neighbour, { tuples: ["doc:1#owner@user:n"] });
    const before = await stateAt(original, tenant, undefined);
    const versions = await original.schemas.list(tenant, { before: undefined, limit: 10 });
    await original.close();
    const sql = connect(from, 1);
    // History was collected there, up to an id that means nothing elsewhere.
    await sql`update installation set horizon = pg_snapshot_xmin(pg_current_snapshot())`;
    await sql.end();
    await carrier.carry(from, target.url);

    const store = await openStore(target.url, { watch: { readAheadMax: 100 } });
    t.after(() => store.close());
    assert.deepEqual(await stateAt(store, tenant, undefined), before);
    assert.deepEqual(await store.schemas.list(tenant, { before: undefined, limit: 10 }), versions);
    for (const [subject, id, expected] of [
      ["b", "1", true],
      ["a", "1", false],
      ["a", "2", true],
    ] as const) {
      const asked = { id, permission: "view", subject };
      assert.equal(await allowed(store, tenant, asked), expected, `${subject} on ${id}`);
    }
    for (const token of old) await refused(store, tenant, token);

    const states = await changeAll(store, tenant);
    for (const { token, state } of states) {
      assert.deepEqual(await stateAt(store, tenant, token), state);
    }
    assert.deepEqual(await stateAt(store, neighbour, undefined), ["doc:1#owner@user:n"]);
    assert.deepEqual(await told(store, tenant, states[0]?.token, 3), [
      ["delete tuple doc:1"],
      ["delete attribute doc:1", "create attribute doc:1"],
      ["create tuple doc:1"],
    ]);

    // The database is at home now: another start changes nothing.
    const again = await openStore(target.url, { watch: { readAheadMax: 100 } });
    t.after(() => again.close());
    for (const { token, state } of states) {
      assert.deepEqual(await stateAt(again, tenant, token), state);
    }
    for (const token of old) await refused(again, tenant, token);
  });
}

/** Deletes, overwrites and creates what was restored; each state with its token. */
async function changeAll(
  store: Store,
  tenant: TenantId,
): Promise<readonly { readonly token: SnapToken; readonly state: readonly string[] }[]> {
  const others = ["doc:2#owner@user:a", "group:g#member@user:b"];
  const userset = "doc:1#viewer@group:g#member";
  return [
    {
      token: await write(store, tenant, {}),
      state: ["doc:1$limit=2", userset, ...others].toSorted(),
    },
    {
      token: await remove(store, tenant, { tuples: { ids: ["1"] } }),
      state: ["doc:1$limit=2", ...others].toSorted(),
    },
    {
      token: await write(store, tenant, { attributes: [limit(3)] }),
      state: ["doc:1$limit=3", ...others].toSorted(),
    },
    {
      token: await write(store, tenant, { tuples: [userset] }),
      state: ["doc:1$limit=3", userset, ...others].toSorted(),
    },
  ];
}

/** A token of the original, wherever it is shown. */
async function refused(store: Store, tenant: TenantId, token: SnapToken): Promise<void> {
  const asked = { id: "1", permission: "view", subject: "a", at: token };
  const { signal } = new AbortController();
  const uses = [
    async () => await stateAt(store, tenant, token),
    async () => await allowed(store, tenant, asked),
    async () => await store.changes.follow(tenant, { after: token, signal }),
  ];
  for (const use of uses) await fails(use(), "INVALID_SNAP_TOKEN", "another database");
}

/** What a watch tells from a token on, message by message. */
async function told(
  store: Store,
  tenant: TenantId,
  after: SnapToken | undefined,
  count: number,
): Promise<readonly (readonly string[])[]> {
  const watching = new AbortController();
  const { messages } = await store.changes.follow(tenant, { after, signal: watching.signal });
  const lines: string[][] = [];
  for await (const { changes } of messages) {
    lines.push(
      changes.map((change) => {
        const { entity } = change.kind === "tuple" ? change.tuple : change.attribute;
        return `${change.operation} ${change.kind} ${entity.type}:${entity.id}`;
      }),
    );
    if (lines.length === count) break;
  }
  watching.abort();
  return lines;
}
