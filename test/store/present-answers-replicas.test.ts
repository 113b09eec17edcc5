/**
 * Answers of the present state that are kept where a standby is asked: each must be what a search on the
 * standby says at that moment, however far it is behind.
 */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";

import { noTelemetry } from "../../src/base/telemetry.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { dice } from "../support/dice.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { outcomeOf } from "./asked-text.ts";
import {
  allowed,
  attribute,
  openStore,
  schemaText,
  tenantWithSchema,
  tuple as tupleOf,
  write,
} from "./engines.ts";
import { remove } from "./filters.ts";
import { beginDelete, beginWrite, type OpenWrite } from "./open-write.ts";
import { type Replicated, startReplicated } from "./replicated.ts";

const steps = caseCount({ short: 60, long: 600 });

/** More checks than a plan rests for at most (`OutdatedPlans`). */
const restMax = 300;

let servers: Replicated;

before(async () => {
  servers = await startReplicated();
});

after(async () => {
  await servers.stop();
});

interface KeepingStore {
  readonly store: Store;
  readonly tenant: TenantId;
  readonly hits: () => number;
}

async function openKeeping(t: TestContext): Promise<KeepingStore> {
  let hits = 0;
  const { store, tenant } = await servers.open(t, {
    slots: 4,
    cache: { maxBytes: 1_000_000, maxEntries: 1_000 },
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") hits += amount;
      },
    },
  });
  return { store, tenant, hits: () => hits };
}

const asked = { id: "1", permission: "view", subject: "ada" };

test("a kept answer is that of the standby, and changes with it", async (t) => {
  const { store, tenant, hits } = await openKeeping(t);
  await write(store, tenant, {
    tuples: ["doc:1#viewer@group:1#member", "group:1#member@user:ada"],
  });
  await servers.caughtUp();
  const ask = async (): Promise<boolean> => await allowed(store, tenant, asked);
  for (let times = 0; times < 2; times += 1) assert.equal(await ask(), true);
  const known = hits();
  assert.equal(await ask(), true);
  assert.equal(hits(), known + 1);
  const resume = await servers.pauseReplay(t);
  await remove(store, tenant, { tuples: { type: "group", ids: ["1"] } });
  assert.equal(await ask(), true);
  assert.equal(hits(), known + 2);
  await resume();
  assert.equal(await ask(), false);
});

test("a transaction that is open on the writer keeps no change of others from being seen", async (t) => {
  const { store, tenant } = await openKeeping(t);
  // Of another tenant: changes of this one could wait for it.
  const other = await tenantWithSchema(store);
  const open = await beginWrite(servers.sql, other, { tuples: ["doc:1#owner@user:ada"] });
  t.after(async () => await open.undo());
  for (const isOwner of [true, false, true, false]) {
    if (isOwner) await write(store, tenant, { tuples: ["doc:1#owner@user:ada"] });
    else await remove(store, tenant, { tuples: { type: "doc", ids: ["1"] } });
    await servers.caughtUp();
    for (let times = 0; times < 3; times += 1) {
      assert.equal(await allowed(store, tenant, asked), isOwner);
    }
  }
});

test("kept answers are those of a search on the standby, however far it has replayed", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const { store, tenant, hits } = await openKeeping(t);
  const plain = await openStore(servers.url, { replicaUrl: servers.standbyUrl, warn: () => {} });
  // An instance that knows a newer head than the standby asks the writer. These two never do: they learn the head of
  // the writer once, while the standby has it too, and then those that the standby shows.
  assert.equal(await outcomeOf(plain, tenant, "doc:1#view@user:ada"), "false");
  const writing = await openStore(servers.url);
  t.after(async () => await Promise.all([plain.close(), writing.close()]));
  const { upTo, happens } = dice(1);
  const tuples = [
    "doc:1#owner@user:ada",
    "doc:1#viewer@group:1#member",
    "group:1#member@group:2#member",
    "group:2#member@user:ada",
    "group:2#member@user:bob",
  ];
  const questions = [
    "doc:1#view@user:ada",
    "doc:1#owner@user:ada",
    "doc:1#view@user:bob",
    "doc:1#owner@user:bob",
    "doc#view@user:bob",
    "doc:1#view@user",
  ];
  let compared = 0;
  let open: OpenWrite | undefined;
  let isPaused = false;
  const change = async (): Promise<void> => {
    // Other changes of the tenant may wait for one that is open.
    if (open !== undefined) {
      if (happens(0.5)) return;
      await (happens(0.7) ? open.commit() : open.undo());
      open = undefined;
      return;
    }
    const tuple = tuples[upTo(tuples.length)] ?? assert.fail("no tuple");
    const { entity, relation } = tupleOf(tuple);
    switch (upTo(6)) {
      case 0:
      case 1:
        await write(writing, tenant, { tuples: [tuple] });
        return;
      case 2:
        await remove(writing, tenant, {
          tuples: { type: entity.type, ids: [entity.id], relation },
        });
        return;
      case 3: {
        const value = { type: "boolean", data: happens(0.3) } as const;
        await write(writing, tenant, { attributes: [attribute("public", value)] });
        return;
      }
      case 4: {
        const view = happens(0.5) ? "owner" : "owner or viewer or public";
        await writing.schemas.write(tenant, {
          text: schemaText.replace(/view = .*/, `view = ${view}`),
        });
        return;
      }
      default:
        open = await (happens(0.5)
          ? beginWrite(servers.sql, tenant, { tuples: [tuple] })
          : beginDelete(servers.sql, tenant, tuple));
    }
  };
  for (let step = 0; step < steps; step += 1) {
    await change();
    if (happens(0.2)) {
      if (isPaused) await servers.resume();
      else await servers.pause();
      isPaused = !isPaused;
    }
    // While it replays, two questions may meet two states.
    if (!isPaused) await servers.caughtUp();
    const compare = async (question: string): Promise<void> => {
      const right = await outcomeOf(plain, tenant, question);
      const answer = await outcomeOf(store, tenant, question);
      assert.equal(answer, right, `step ${step}: ${question}`);
      compared += 1;
    };
    for (let times = upTo(3); times >= 0; times -= 1) {
      // A check that is alone and costs little is mostly asked without a look at what is kept.
      if (happens(0.5)) await Promise.all(questions.map(compare));
      else for (const question of questions) await compare(question);
    }
  }
  if (isPaused) await servers.resume();
  await open?.undo();
  await writing.schemas.write(tenant, { text: schemaText });
  await servers.caughtUp();
  // A plan whose kept answers were outdated time after time rests: it hits again after some checks. Checks that come
  // at once are looked up in any case.
  const inWalk = hits();
  for (let times = 0; times < restMax && hits() === inWalk; times += 1) {
    await Promise.all(questions.map(async (one) => await outcomeOf(store, tenant, one)));
  }
  assert.ok(hits() > inWalk);
  t.diagnostic(`${compared} answers compared, ${inWalk} kept`);
});
