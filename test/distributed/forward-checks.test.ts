import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Caller, forCaller } from "../../src/base/caller.ts";
import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { CheckQuestion, Store } from "../../src/store/store.ts";
import { fails, tenantWithSchema, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { makeCertificate } from "../support/certificate-files.ts";
import { openLine } from "../support/line.ts";
import {
  Addresses,
  type Instance,
  type InstanceOptions,
  mayView,
  startInstance,
} from "./instances.ts";

/* Several instances over one store, which all of them would ask alike: who asks it is what is looked at. */

const users = Array.from({ length: 60 }, (_, nth) => `user${nth}`);
let store: Store;
let tenant: TenantId;
let token: SnapToken;
const running: Instance[] = [];

before(async () => {
  store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  tenant = await tenantWithSchema(store);
  const allowed = users.filter((_, nth) => nth % 2 === 0);
  token = await write(store, tenant, {
    tuples: allowed.map((user) => `doc:1#viewer@user:${user}`),
  });
});

afterEach(() => {
  for (const instance of running.splice(0)) instance.close();
});

after(async () => await store.close());

/** So many instances that know each other, each with its options. */
async function start(...options: readonly InstanceOptions[]): Promise<readonly Instance[]> {
  return await startAt(new Addresses(), ...options);
}

async function startAt(
  addresses: Addresses,
  ...options: readonly InstanceOptions[]
): Promise<readonly Instance[]> {
  const started: Instance[] = [];
  for (const each of options) started.push(await startInstance(store, addresses, each));
  running.push(...started);
  await knowing(started, options.length);
  return started;
}

async function knowing(instances: readonly Instance[], count: number): Promise<void> {
  await until(async () => instances.every(({ peers }) => peers.size === count) || undefined);
}

/** Until each instance has heard from each address, so that it sends no check to itself any more. */
async function acquainted(instances: readonly Instance[]): Promise<void> {
  await until(async () => {
    await Promise.all(instances.map(askAll));
    const isDone = instances.every(
      ({ peers }) =>
        peers.size === instances.length &&
        users.map((user) => peers.pick(user)).every((peer) => !peer || peer.instance),
    );
    return isDone || undefined;
  });
  for (const { asked } of instances) asked.length = 0;
}

function question(user: string, more: Partial<CheckQuestion> = {}): CheckQuestion {
  return mayView(user, token, more);
}

async function askAll(instance: Instance): Promise<readonly boolean[]> {
  return await Promise.all(
    users.map(async (user) => {
      const [answer] = await instance.store.permissions.check(tenant, question(user));
      return answer?.allowed ?? assert.fail("no answer");
    }),
  );
}

const right = users.map((_, nth) => nth % 2 === 0);

test("each check is worked on by one instance, whichever it came to, and takes one hop", async () => {
  const instances = await start({}, {}, {});
  for (const instance of instances) assert.deepEqual(await askAll(instance), right);
  const placed = instances.map(({ asked }) => asked.map(({ items }) => items[0]?.subject.id));
  assert.equal(placed.flat().length, users.length * instances.length);
  for (const [nth, here] of placed.entries()) {
    const elsewhere = new Set(placed.toSpliced(nth, 1).flat());
    assert.ok(here.length > 0, `instance ${nth} was asked nothing`);
    assert.ok(here.every((user) => !elsewhere.has(user)));
  }
  const [some] = instances.flatMap(({ asked }) => asked);
  assert.equal(some?.depth, 7);
  assert.equal(some.snapToken, token);
});

test("with a wider pick a check goes to any of several", async () => {
  const instances = await start({ width: 3 }, {}, {});
  const [first] = instances;
  assert.ok(first);
  for (let nth = 0; nth < 60; nth += 1) {
    await first.store.permissions.check(tenant, question("user0"));
  }
  assert.ok(instances.every(({ asked }) => asked.length > 0));
});

test("what is kept nowhere is not sent anywhere", async () => {
  const [first, second] = await start({}, {});
  assert.ok(first && second);
  const [item] = question("user0").items;
  assert.ok(item);
  const asked: CheckQuestion[] = [
    question("user1", { snapToken: undefined }),
    question("user1", { context: { ...emptyContext, data: { now: 1 } } }),
    question("user1", { items: [item, item] }),
  ];
  for (const each of asked) await first.store.permissions.check(tenant, each);
  assert.equal(first.asked.length, asked.length);
  assert.equal(second.asked.length, 0);
});

test("an instance that is gone fails no check, and is asked nothing any more", async () => {
  const instances = await start({}, {}, {});
  const [first, second, third] = instances;
  assert.ok(first && second && third);
  const asking = askAll(first);
  third.fall();
  assert.deepEqual(await asking, right);
  assert.deepEqual(await askAll(first), right);
  await knowing([first, second], 2);
  const before = third.asked.length;
  assert.deepEqual(await askAll(second), right);
  assert.equal(third.asked.length, before);
});

test("a check that another instance is late with is answered here, and ends there", async () => {
  const never = Promise.withResolvers<undefined>();
  let isStuck = false;
  const delay = async (): Promise<undefined> => (isStuck ? await never.promise : undefined);
  const [first, second] = await start({ patienceMs: 500 }, { delay });
  assert.ok(first && second);
  await acquainted([first, second]);
  isStuck = true;
  assert.deepEqual(await askAll(first), right);
  assert.ok(second.asked.length > 0);
  assert.equal(first.asked.length, users.length);
  await until(async () => second.asked.every(({ signal }) => signal?.aborted) || undefined);
  never.resolve(undefined);
});

test("another instance has half of the time that the client waits", async () => {
  const never = Promise.withResolvers<undefined>();
  const [first, second] = await start({}, { delay: async () => await never.promise });
  assert.ok(first && second);
  const caller = new Caller(new AbortController(), performance.now() + 3_000);
  const answers = await forCaller(caller, () => askAll(first));
  assert.deepEqual(answers, right);
  assert.ok(second.asked.length > 0);
  // A client in a hurry is no reason to leave an instance out.
  assert.deepEqual(first.warnings, []);
  never.resolve(undefined);
});

test("one check that takes long is no reason to leave an instance out", async () => {
  const never = Promise.withResolvers<undefined>();
  let slow = "";
  const delay = async (subject: string): Promise<undefined> =>
    subject === slow ? await never.promise : undefined;
  const [first, second] = await start({ patienceMs: 3_000 }, { delay });
  assert.ok(first && second);
  await acquainted([first, second]);
  await askAll(first);
  slow = second.asked[0]?.items[0]?.subject.id ?? assert.fail("it is asked some");
  const [answer] = await first.store.permissions.check(tenant, question(slow));
  assert.equal(answer?.allowed, users.indexOf(slow) % 2 === 0);
  assert.equal(first.peers.size, 2);
  assert.deepEqual(first.warnings, []);
  never.resolve(undefined);
});

test("an instance that was late is asked nothing for some looks, then again", async () => {
  let isStuck = false;
  const stuck = Promise.withResolvers<undefined>();
  const delay = async (): Promise<undefined> => (isStuck ? await stuck.promise : undefined);
  const addresses = new Addresses();
  const [first, second] = await startAt(addresses, { patienceMs: 500 }, { delay });
  assert.ok(first && second);
  await acquainted([first, second]);
  isStuck = true;
  const release = addresses.hold();
  assert.deepEqual(await askAll(first), right);
  assert.equal(first.peers.size, 1);
  assert.match(first.warnings.join(), /is left out: 4 DEADLINE_EXCEEDED/);
  const late = second.asked.length;
  assert.ok(late > 0);
  const looks = first.looks();
  isStuck = false;
  stuck.resolve(undefined);
  assert.deepEqual(await askAll(first), right);
  assert.equal(second.asked.length, late);
  release();
  await knowing([first], 2);
  assert.ok(first.looks() - looks >= 3);
  assert.deepEqual(await askAll(first), right);
  assert.ok(second.asked.length > late);
});

test("an instance whose connection swallows everything is asked nothing until one answers", async (t) => {
  const addresses = new Addresses();
  const first = await startInstance(store, addresses, { patienceMs: 500 });
  const second = await startInstance(store, addresses);
  running.push(first, second);
  const line = await openLine(t, `http://${second.address}`);
  addresses.list.splice(0, 2, first.address, new URL(line.url).host);
  await until(async () => line.connections() > 0 || undefined);
  await knowing([first], 2);
  assert.deepEqual(await askAll(first), right);
  assert.ok(second.asked.length > 0);
  line.silence("all");
  assert.deepEqual(await askAll(first), right);
  await knowing([first], 1);
  // What is left out for some looks would be back by now.
  const looks = first.looks();
  await until(async () => first.looks() > looks + 6 || undefined);
  assert.equal(first.peers.size, 1);
  await line.mend();
  await knowing([first], 2);
});

test("an instance with several addresses is one, and does not go on sending checks to itself", async () => {
  const addresses = new Addresses();
  running.push(await startInstance(store, addresses), await startInstance(store, addresses));
  const [first, second] = running;
  assert.ok(first && second);
  await knowing(running, 2);
  addresses.list.push(...addresses.list.map((each) => each.replace("127.0.0.1", "localhost")));
  await knowing(running, 4);
  // Each address has answered a check then.
  await until(async () => {
    await Promise.all(running.map(askAll));
    return running.every(({ peers }) => peers.size === 2) || undefined;
  });
  for (const user of users) {
    const picked = first.peers.pick(user);
    assert.ok(picked === undefined || picked.instance !== undefined);
    assert.notEqual(picked?.address, first.address);
  }
});

test("an error is that of the instance that was asked", async () => {
  const [first] = await start({}, {}, {});
  assert.ok(first);
  const failing = users.map(async (user) => {
    const [item] = question(user).items;
    assert.ok(item);
    const items = [{ ...item, permission: "edit" }];
    await fails(
      first.store.permissions.check(tenant, question(user, { items })),
      "PERMISSION_NOT_FOUND",
      "edit",
    );
  });
  await Promise.all(failing);
  assert.equal(first.peers.size, 3);
});

test("who leaves is not worked for, here or elsewhere", async () => {
  const forever = new Promise<void>(() => {});
  const delay = async (): Promise<void> => await forever;
  const instances = await start({ delay }, { delay });
  const [first] = instances;
  assert.ok(first);
  const leaving = new AbortController();
  const asking = users.map((user) =>
    first.store.permissions.check(tenant, question(user, { signal: leaving.signal })),
  );
  const begun = (): number => instances.reduce((sum, { asked }) => sum + asked.length, 0);
  await until(async () => begun() === users.length || undefined);
  leaving.abort();
  void Promise.allSettled(asking);
  const signals = instances.flatMap(({ asked }) => asked.map(({ signal }) => signal));
  await until(async () => signals.every((signal) => signal?.aborted) || undefined);
});

test("instances know each other by a key, and one with another key is left out", async () => {
  const [first] = await start({ key: "one" }, { key: "one" });
  assert.ok(first);
  assert.deepEqual(await askAll(first), right);
  assert.ok(first.asked.length < users.length);
  const addresses = new Addresses();
  const [stranger] = await startAt(addresses, { key: "one" }, { key: "two" });
  assert.ok(stranger);
  const release = addresses.hold();
  assert.deepEqual(await askAll(stranger), right);
  assert.equal(stranger.peers.size, 1);
  release();
  await knowing([stranger], 2);
  assert.deepEqual(await askAll(stranger), right);
  assert.match(stranger.warnings.join(), /is left out: 16 UNAUTHENTICATED/);
  assert.equal(stranger.warnings.length, 1);
});

test("instances with a certificate speak TLS, and trust no other one", async () => {
  const made = await Promise.all([makeCertificate(), makeCertificate()]);
  const [pair, other] = made.map(({ cert, private: key }) => ({
    cert: Buffer.from(cert),
    key: Buffer.from(key),
  }));
  assert.ok(pair && other);
  const [first, second] = await start({ pair }, { pair });
  assert.ok(first && second);
  assert.deepEqual(await askAll(first), right);
  assert.ok(second.asked.length > 0);
  const addresses = new Addresses();
  const strangers = [
    await startInstance(store, addresses, { pair }),
    await startInstance(store, addresses, { pair: other }),
  ];
  running.push(...strangers);
  await knowing(strangers, 1);
  await until(async () => strangers.every(({ warnings }) => warnings.length > 0) || undefined);
});

test("a check whose caller has left is sent to no peer", async () => {
  const [first, second] = await start({}, {});
  assert.ok(first && second);
  const signal = AbortSignal.abort();
  const asked = users.map(async (user) =>
    first.store.permissions.check(tenant, question(user, { signal })),
  );
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === "rejected");
  // The others are its own to work on.
  assert.equal(refused.length + first.asked.length, users.length);
  assert.ok(refused.length > 0);
  assert.equal(second.asked.length, 0);
});
