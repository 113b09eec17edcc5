import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { BorrowedRate } from "../../src/workers/borrowed-rate.ts";
import { BorrowedShares } from "../../src/workers/borrowed-shares.ts";
import { type Borrower, Lender } from "../../src/workers/lender.ts";
import { dice } from "../support/dice.ts";
import { configOf } from "../support/given-config.ts";

const resource = { excess: "too much", key: "server.tenant.request_limit", advice: "wait" };
const one = "one" as TenantId;

/** The workers of an instance, without processes: a message takes a turn of the event loop. */
interface Lending {
  readonly workers: readonly LendingWorker[];
  /** How many messages have come to the lender. */
  readonly messages: () => number;
  now: number;
}

interface LendingWorker {
  readonly shares: BorrowedShares;
  readonly rate: BorrowedRate;
  /** Its process has ended. */
  readonly end: () => void;
  /** It does not answer recalls any more. */
  readonly hang: () => void;
}

function lending(
  count: number,
  {
    ofTenant = 1_000,
    perSecond = 100,
  }: { readonly ofTenant?: number; readonly perSecond?: number },
): Lending {
  const clock = { now: 0 };
  const now = (): number => clock.now;
  let messages = 0;
  const config = configOf({
    args: [`--server-tenant-request-limit=${ofTenant}`, `--server-rate-limit=${perSecond}`],
  });
  const lender = new Lender(config, count, now);
  const workers = Array.from({ length: count }, (): LendingWorker => {
    let hangs = false;
    const borrower: Borrower = {
      send: (message) => {
        if (message.kind === "recall" && !hangs)
          void turn().then(() => shares.recalled(message.loan));
      },
    };
    const arrive = async (): Promise<void> => {
      await turn();
      messages += 1;
    };
    const shares = new BorrowedShares({
      name: "requests",
      ofTenant,
      workers: count,
      resource,
      now,
      link: {
        borrow: async (loan, amount) => {
          await arrive();
          const granted = await lender.lend(borrower, loan, amount);
          await turn();
          return granted;
        },
        giveBack: (loan, amount) =>
          void arrive().then(() => lender.giveBack(borrower, loan, amount)),
      },
    });
    const rate = new BorrowedRate({
      perSecond,
      workers: count,
      now,
      takeTokens: async (most) => {
        await arrive();
        return lender.takeTokens(most);
      },
    });
    lender.joined(borrower);
    return { shares, rate, end: () => lender.left(borrower), hang: () => (hangs = true) };
  });
  return {
    workers,
    messages: () => messages,
    get now() {
      return clock.now;
    },
    set now(time) {
      clock.now = time;
    },
  };
}

function must<T>(value: T | undefined): T {
  return value ?? assert.fail();
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Whether the amount was taken; any other error than a refusal fails the test. */
async function takes(
  { shares }: LendingWorker,
  tenant: TenantId | undefined,
  amount = 1,
): Promise<boolean> {
  try {
    await shares.take(tenant, amount);
    return true;
  } catch (error) {
    assert.ok(error instanceof PembaError && error.code === "CONCURRENCY_LIMIT_EXCEEDED");
    return false;
  }
}

/** How many of so many requests at once are taken. */
async function taken(
  worker: LendingWorker,
  tenant: TenantId | undefined,
  requests: number,
): Promise<number> {
  const results = await Promise.all(
    Array.from({ length: requests }, async () => await takes(worker, tenant)),
  );
  return results.filter(Boolean).length;
}

test("small requests ask nothing, and are counted at once", () => {
  const { workers, messages } = lending(2, { ofTenant: 1_000 });
  for (const { shares } of workers) {
    for (let nth = 0; nth < 25; nth++) assert.equal(shares.take(one, 1), undefined);
  }
  assert.equal(messages(), 0);
});

test("a tenant on one worker gets all of its share but the reserve of the others", async () => {
  for (const [workers, ofTenant, expected] of [
    [2, 1_000, 975],
    [16, 1_000, 1_000 - 15 * 3],
    [2, 8, 8],
    [4, 79, 79],
  ] as const) {
    const { workers: all } = lending(workers, { ofTenant });
    const [first] = all;
    assert.ok(first !== undefined);
    assert.equal(await taken(first, one, 2 * ofTenant), expected, `${workers} of ${ofTenant}`);
  }
});

test("all workers together never hold more than the share, and all of it", async () => {
  const { workers } = lending(4, { ofTenant: 100 });
  const counts = await Promise.all(workers.map(async (worker) => await taken(worker, one, 100)));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    100,
  );
});

test("the shares of all tenants together have their sum", async () => {
  const all = lending(2, { ofTenant: 10 });
  const names = ["a", "b", "c", "d", "e", undefined] as readonly (TenantId | undefined)[];
  const takeAll = async (): Promise<number> => {
    const counts = await Promise.all(
      names.map(async (tenant, nth) => await taken(must(all.workers[nth % 2]), tenant, 10)),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const first = await takeAll();
  // What one has ahead, the other one gets when it asks again.
  assert.ok(first >= 38);
  all.now += 10;
  assert.equal(first + (await takeAll()), 40);
});

test("what one worker does not need any more, another one gets at once", async () => {
  const all = lending(2, { ofTenant: 1_000 });
  const [first, second] = all.workers;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(await taken(first, one, 900), 900);
  assert.equal(await takes(second, one, 200), false);
  // One is left, so the worker keeps what it has borrowed until it is recalled.
  first.shares.giveBack(one, 899);
  all.now += 10;
  assert.equal(await takes(second, one, 900), true);
});

test("what a worker held is free when its process ends", async () => {
  const { workers } = lending(2, { ofTenant: 10 });
  const [first, second] = workers;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(await taken(first, one, 10), 10);
  first.end();
  assert.equal(await taken(second, one, 11), 10);
});

test("a worker that does not answer a recall delays no other one for long", async () => {
  const { workers } = lending(2, { ofTenant: 10 });
  const [first, second] = workers;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(await taken(first, one, 6), 6);
  first.hang();
  assert.equal(await takes(second, one, 5), false);
});

test("a flood of refused requests does not reach the lender", async () => {
  const all = lending(2, { ofTenant: 10 });
  const [first] = all.workers;
  assert.ok(first !== undefined);
  await taken(first, one, 11);
  const before = all.messages();
  for (let nth = 0; nth < 1_000; nth++) assert.equal(await takes(first, one), false);
  assert.equal(all.messages(), before);
  first.shares.giveBack(one, 1);
  assert.equal(await takes(first, one), true);
});

test("nor does one of requests of which the worker has none under way", async () => {
  const all = lending(2, { ofTenant: 10 });
  const [first, second] = all.workers;
  assert.ok(first !== undefined && second !== undefined);
  await taken(first, one, 10);
  assert.equal(await takes(second, one), false);
  const before = all.messages();
  for (let nth = 0; nth < 1_000; nth++) assert.equal(await takes(second, one), false);
  assert.equal(all.messages(), before);
  first.shares.giveBack(one, 10);
  all.now += 10;
  assert.equal(await takes(second, one), true);
});

test("nor do requests that come while the worker asks", async () => {
  const all = lending(2, { ofTenant: 10 });
  const [first] = all.workers;
  assert.ok(first !== undefined);
  await taken(first, one, 10);
  const before = all.messages();
  const flood: Promise<boolean>[] = [];
  for (let nth = 0; nth < 100; nth++) {
    for (let each = 0; each < 5; each++) flood.push(takes(first, one));
    await turn();
  }
  assert.deepEqual(new Set(await Promise.all(flood)), new Set([false]));
  assert.equal(all.messages(), before + 1);
});

test("of those that come meanwhile, what the worker has is taken", async () => {
  const { workers } = lending(2, { ofTenant: 10 });
  const [first] = workers;
  assert.ok(first !== undefined);
  assert.equal(await taken(first, one, 8), 8);
  const large = takes(first, one, 5);
  const small = takes(first, one, 2);
  assert.deepEqual(await Promise.all([large, small]), [false, true]);
});

test("nor do requests for which the tenant has enough, but not all tenants together", async () => {
  const all = lending(2, { ofTenant: 10 });
  const [first] = all.workers;
  assert.ok(first !== undefined);
  for (const tenant of ["a", "b", "c", "d"]) await taken(first, tenant as TenantId, 10);
  assert.equal(await takes(first, one), false);
  // What the tenant had borrowed goes back.
  await turn();
  const before = all.messages();
  for (let nth = 0; nth < 1_000; nth++) assert.equal(await takes(first, one), false);
  await turn();
  assert.equal(all.messages(), before);
  first.shares.giveBack("a" as TenantId, 10);
  all.now += 10;
  assert.equal(await takes(first, one), true);
});

test("the limits hold for any takes and returns of the workers, and all is free in the end", async () => {
  const { upTo, happens } = dice(22);
  const ofTenant = 60;
  const all = lending(3, { ofTenant });
  const tenants = ["a", "b", "c", "d", "e", "f"].map((id) => id as TenantId);
  const held: { worker: LendingWorker; tenant: TenantId; amount: number }[] = [];
  const heldBy = (tenant?: TenantId): number =>
    held
      .filter((each) => tenant === undefined || each.tenant === tenant)
      .reduce((sum, { amount }) => sum + amount, 0);
  let refused = 0;
  for (let step = 0; step < 2_000; step++) {
    all.now += 3;
    if (happens(0.4) && held.length > 0) {
      const [gone] = held.splice(upTo(held.length), 1);
      if (gone !== undefined) gone.worker.shares.giveBack(gone.tenant, gone.amount);
      continue;
    }
    await Promise.all(
      Array.from({ length: 1 + upTo(4) }, async () => {
        const worker = must(all.workers[upTo(all.workers.length)]);
        const tenant = must(tenants[upTo(tenants.length)]);
        const amount = 1 + upTo(20);
        if (await takes(worker, tenant, amount)) held.push({ worker, tenant, amount });
        else refused += 1;
        assert.ok(heldBy(tenant) <= ofTenant, `step ${step}`);
        assert.ok(heldBy() <= 4 * ofTenant, `step ${step}`);
      }),
    );
  }
  assert.ok(refused > 0 && held.length > 0);
  for (const { worker, tenant, amount } of held) worker.shares.giveBack(tenant, amount);
  all.now += 1_000;
  const [first] = all.workers;
  assert.ok(first !== undefined);
  for (const tenant of tenants.slice(0, 4)) {
    assert.equal(await takes(first, tenant, ofTenant - 2), true);
  }
});

test("one worker gets the whole rate, and all together do not get more", async () => {
  const all = lending(2, { perSecond: 100 });
  const [first, second] = all.workers;
  assert.ok(first !== undefined && second !== undefined);
  const count = async ({ rate }: LendingWorker, requests: number): Promise<number> => {
    const results = await Promise.all(
      Array.from({ length: requests }, async () => await rate.take()),
    );
    return results.filter(Boolean).length;
  };
  assert.equal(await count(first, 150), 100);
  assert.equal(await count(second, 150), 0);
  all.now += 500;
  const both = (await count(first, 40)) + (await count(second, 40));
  // The first worker has two tokens ahead.
  assert.equal(both, 48);
});

test("tokens that were taken ahead are not used later, when others have come back", async () => {
  const all = lending(2, { perSecond: 100 });
  const [first] = all.workers;
  assert.ok(first !== undefined);
  const { rate } = first;
  assert.equal(await rate.take(), true);
  // Two were taken ahead.
  assert.equal(rate.take(), true);
  all.now += 101;
  const before = all.messages();
  assert.equal(await rate.take(), true);
  assert.equal(all.messages(), before + 1);
});

test("requests far below the rate seldom ask, and those beyond it do not flood the lender", async () => {
  const all = lending(2, { perSecond: 100_000 });
  const [first] = all.workers;
  assert.ok(first !== undefined);
  const { rate } = first;
  for (let nth = 0; nth < 2_000; nth++) assert.equal(await rate.take(), true);
  assert.equal(all.messages(), 1);
  let refused = 0;
  while (refused < 1_000) if (!(await rate.take())) refused += 1;
  assert.ok(all.messages() < 60, `${all.messages()} messages`);
});

test("requests that come while a worker asks for tokens do not flood the lender", async () => {
  const all = lending(2, { perSecond: 10 });
  const [first] = all.workers;
  assert.ok(first !== undefined);
  const { rate } = first;
  for (let nth = 0; nth < 10; nth++) assert.equal(await rate.take(), true);
  const before = all.messages();
  const flood: Promise<boolean>[] = [];
  for (let nth = 0; nth < 100; nth++) {
    for (let each = 0; each < 5; each++) flood.push(Promise.resolve(rate.take()));
    await turn();
  }
  assert.deepEqual(new Set(await Promise.all(flood)), new Set([false]));
  assert.equal(all.messages(), before + 1);
});
