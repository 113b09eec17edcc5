/**
 * Random changes, some in transactions that stay open, while a standby replays now and then. States
 * are read through a store that asks the standby, and their tokens kept: each must name that very
 * state ever after, on every server. A failure prints its seed; PEMBA_SEED repeats it.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { openStore, tenantWithSchema, write } from "./engines.ts";
import { remove, tupleFilter } from "./filters.ts";
import { type Followed, startFollowed } from "./followed.ts";
import { beginWrite, type OpenWrite } from "./open-write.ts";
import { stateAt } from "./state.ts";

const runs = caseCount({ short: 3, long: 20 });

const anyTenant = fc.nat(1);
const anyTuple = fc
  .record({ doc: fc.nat(2), user: fc.constantFrom("a", "b", "c") })
  .map(({ doc, user }) => `doc:${doc}#owner@user:${user}`);

const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("write"), tenant: anyTenant, tuple: anyTuple }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("delete"), tenant: anyTenant, tuple: anyTuple }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("begin"), tenant: anyTenant, tuple: anyTuple }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("look"), tenant: anyTenant, tuple: anyTuple }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("commit", "undo", "pause", "resume", "catch up"),
      tenant: anyTenant,
      tuple: anyTuple,
    }),
  },
);
/** Changes may wait for one that is open. Looking at states must find connections beside them. */
const underWayMax = 3;

type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

let servers: Followed;

before(async () => {
  servers = await startFollowed();
});

after(async () => {
  await servers.stop();
});

interface Seen {
  readonly tenant: TenantId;
  readonly token: SnapToken;
  readonly tuples: readonly string[];
}

/** Goes through a life, and remembers what was seen on the way. */
class Life {
  readonly seen: Seen[] = [];
  readonly #open: OpenWrite[] = [];
  #begun = 0;
  /** Changes that have not ended: a delete waits for those that are open, and others for it. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isPaused = false;
  readonly #store: Store;
  readonly #tenants: readonly TenantId[];

  constructor(store: Store, tenants: readonly TenantId[]) {
    this.#store = store;
    this.#tenants = tenants;
  }

  async take({ do: action, tenant: number, tuple }: Step): Promise<void> {
    const tenant = this.#tenants[number] ?? assert.fail("no tenant");
    if (isChange(action) && this.#underWay.size >= underWayMax) return;
    switch (action) {
      case "write":
        await this.#change(write(this.#store, tenant, { tuples: [tuple] }), tenant);
        break;
      case "delete": {
        const ids = [/doc:(\d)/.exec(tuple)?.[1] ?? ""];
        await this.#change(remove(this.#store, tenant, { tuples: { type: "doc", ids } }), tenant);
        break;
      }
      case "begin":
        if (this.#open.length < 2 && this.#underWay.size === 0) {
          // No other change writes it, or an open change would wait for another.
          const own = tuple.replace("doc:", `doc:open${this.#begun++}_`);
          this.#open.push(await beginWrite(servers.sql, tenant, { tuples: [own] }));
        }
        break;
      case "commit":
        await this.#open.shift()?.commit();
        break;
      case "undo":
        await this.#open.shift()?.undo();
        break;
      case "look":
        await this.#look(tenant);
        break;
      case "pause":
        if (!this.#isPaused) await servers.pause();
        this.#isPaused = true;
        break;
      case "resume":
        await this.#resume();
        break;
      case "catch up":
        await this.#resume();
        await servers.caughtUp();
        break;
    }
  }

  async end(): Promise<void> {
    for (const open of this.#open.splice(0)) await open.commit();
    await Promise.all(this.#underWay);
    await this.#resume();
    await servers.caughtUp();
  }

  async #resume(): Promise<void> {
    if (this.#isPaused) await servers.resume();
    this.#isPaused = false;
  }

  /** While a change is open others may wait for it: this does not await those. */
  async #change(changing: Promise<SnapToken>, tenant: TenantId): Promise<void> {
    const ended = changing.finally(() => this.#underWay.delete(ended));
    this.#underWay.add(ended);
    if (this.#open.length > 0) return;
    const token = await changing;
    const tuples = await stateAt(this.#store, tenant, token);
    this.seen.push({ tenant, token, tuples });
  }

  async #look(tenant: TenantId): Promise<void> {
    const { items, snapToken } = await this.#store.data.readTuples(tenant, {
      filter: tupleFilter({}),
      snapToken: undefined,
      after: undefined,
      limit: 1_000,
    });
    const tuples = items.map(({ entity, subject }) => `doc:${entity.id}#owner@user:${subject.id}`);
    this.seen.push({ tenant, token: snapToken, tuples: tuples.toSorted() });
  }
}

function isChange(action: Step["do"]): boolean {
  return action === "write" || action === "delete";
}

test("a token names the state that it was given for, wherever that was read", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const store = await openStore(servers.url, { replicaUrl: servers.standbyUrl, warn: () => {} });
  const alone = await openStore(servers.url);
  t.after(async () => await Promise.all([store.close(), alone.close()]));
  const property = fc.asyncProperty(
    fc.array(anyStep, { minLength: 30, maxLength: 60, size: "max" }),
    async (steps) => {
      const tenants = [await tenantWithSchema(store), await tenantWithSchema(store)];
      await servers.caughtUp();
      const life = new Life(store, tenants);
      const check = async (by: Store): Promise<void> => {
        for (const { tenant, token, tuples } of life.seen) {
          assert.deepEqual(await stateAt(by, tenant, token), tuples);
        }
      };
      try {
        for (const step of steps) await life.take(step);
        await check(alone);
        await check(store);
      } finally {
        await life.end();
      }
      await check(alone);
      await check(store);
    },
  );
  // A life takes a second, and to make it shorter takes hundreds of them.
  await fc.assert(property, { seed, numRuns: runs, endOnFailure: true });
});
