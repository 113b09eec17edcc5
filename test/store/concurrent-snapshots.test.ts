/**
 * Many clients at once, on two instances with connections of their own where there is a database:
 * what a token promises must hold while others write. Overlaps too rare to come about by themselves
 * are set up one by one in overlapping-writers.test.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import {
  allowed,
  attribute,
  engines,
  openPostgres,
  openStore,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { remove } from "./filters.ts";
import { stateAt } from "./state.ts";

interface Instances {
  /** Instances over the same data. */
  readonly stores: readonly [Store, Store];
  readonly close: () => Promise<void>;
}

const places: Readonly<Record<string, () => Promise<Instances>>> = {
  memory: async () => {
    const memory = engines.find(({ name }) => name === "memory") ?? assert.fail("no engine");
    const { store, close } = await memory.open();
    return { stores: [store, store], close };
  },
  postgres: async () => {
    const { store, url, close } = await openPostgres();
    const other = await openStore(url);
    return {
      stores: [store, other],
      close: async () => {
        await other.close();
        await close();
      },
    };
  },
};

const clients = 12;
const rounds = 12;

/** A change that has been answered. */
interface Answered {
  readonly token: SnapToken;
  /** What the change created. It is never deleted. */
  readonly mark: string;
  /** What had been answered before this change was sent. */
  readonly before: readonly string[];
}

for (const [engine, open] of Object.entries(places)) {
  describe(`snapshots among many writers on ${engine}`, () => {
    test("a token shows its own change, all that was answered before, and the same for ever", async (t) => {
      const { stores, close } = await open();
      t.after(close);
      const tenant = await tenantWithSchema(stores[0]);
      const answered: Answered[] = [];
      const readings: { readonly token: SnapToken; readonly state: readonly string[] }[] = [];

      await Promise.all(
        Array.from({ length: clients }, async (_, client) => {
          const store = stores[client % 2 === 0 ? 0 : 1];
          const reader = stores[client % 2 === 0 ? 1 : 0];
          for (let round = 0; round < rounds; round++) {
            const id = `c${client}r${round}`;
            const before = answered.map(({ mark }) => mark);
            const token = await change(store, tenant, { client, round, id });
            answered.push({ token, mark: `doc:${id}#owner@user:u`, before });
            const asked = { id, permission: "owner", subject: "u" };
            assert.equal(await allowed(reader, tenant, { ...asked, at: token }), true);
            assert.equal(await allowed(reader, tenant, asked), true);
            readings.push({ token, state: await stateAt(reader, tenant, token) });
          }
        }),
      );

      assert.equal(answered.length, clients * rounds);
      for (const [index, { token, mark, before }] of answered.entries()) {
        const state = new Set(await stateAt(stores[index % 2 === 0 ? 0 : 1], tenant, token));
        const missing = [mark, ...before].filter((text) => !state.has(text));
        assert.deepEqual(missing, []);
      }
      for (const { token, state } of readings) {
        assert.deepEqual(await stateAt(stores[0], tenant, token), state);
      }
    });

    test("what was deleted stays deleted while others delete and create beside it", async (t) => {
      const { stores, close } = await open();
      t.after(close);
      const tenant = await tenantWithSchema(stores[0]);
      await write(stores[0], tenant, {
        tuples: Array.from({ length: clients * rounds }, (_, n) => `doc:1#owner@user:u${n}`),
      });
      await Promise.all(
        Array.from({ length: clients }, async (_, client) => {
          const store = stores[client % 2 === 0 ? 0 : 1];
          const reader = stores[client % 2 === 0 ? 1 : 0];
          const gone: string[] = [];
          for (let round = 0; round < rounds; round++) {
            const name = `u${client * rounds + round}`;
            // By its name, or by a filter that leaves something open.
            const parts = round % 2 === 0 ? { ids: ["1"], relation: "owner" } : {};
            const token = await remove(store, tenant, {
              tuples: { ...parts, subjectIds: [name] },
            });
            gone.push(`doc:1#owner@user:${name}`);
            for (const at of [token, undefined]) {
              const state = new Set(await stateAt(reader, tenant, at));
              assert.deepEqual(
                gone.filter((text) => state.has(text)),
                [],
              );
            }
          }
        }),
      );
      assert.deepEqual(await stateAt(stores[1], tenant, undefined), []);
    });
  });
}

/** A change that leaves a mark of its own, and touches keys that others touch as well. */
async function change(
  store: Store,
  tenant: TenantId,
  { client, round, id }: { readonly client: number; readonly round: number; readonly id: string },
): Promise<SnapToken> {
  const shared = `doc:shared#viewer@user:s${round % 3}`;
  if (round % 4 === 3) {
    await remove(store, tenant, {
      tuples: { ids: ["shared"], relation: "viewer", subjectIds: [`s${client % 3}`] },
    });
  }
  return await write(store, tenant, {
    tuples: [`doc:${id}#owner@user:u`, shared],
    attributes: [attribute("limit", { type: "integer", data: client }, `k${round % 2}`)],
  });
}
