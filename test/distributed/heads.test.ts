import assert from "node:assert/strict";
import { test } from "node:test";

import { newTenant, openStore, write } from "../store/engines.ts";
import { startFollowed } from "../store/followed.ts";
import { until } from "../store/open-write.ts";
import { Addresses, mayView, startInstance } from "./instances.ts";

const users = Array.from({ length: 20 }, (_, nth) => `user${nth}`);

function schema(relation: string): { readonly text: string } {
  return {
    text: `entity user {}
      entity doc { relation viewer @user relation owner @user permission view = ${relation} }`,
  };
}

test("an instance that asks a standby answers from no older schema than was seen where a check came in", async (t) => {
  const followed = await startFollowed();
  const closing: (() => unknown)[] = [async () => await followed.stop()];
  t.after(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const options = {
    replicaUrl: followed.standbyUrl,
    cache: { maxBytes: 1_000_000, maxEntries: 1_000 },
  };
  const stores = [
    await openStore(followed.url, options),
    await openStore(followed.url, options),
  ] as const;
  closing.push(async () => await Promise.all(stores.map(async (store) => await store.close())));
  const [writing] = stores;
  const tenant = await newTenant(writing);
  await writing.schemas.write(tenant, schema("viewer"));
  const tuples = users.map((user) => `doc:1#viewer@user:${user}`);
  const token = await write(writing, tenant, { tuples });
  await followed.caughtUp();

  const addresses = new Addresses();
  const asked = await startInstance(stores[0], addresses);
  const other = await startInstance(stores[1], addresses);
  closing.push(() => [asked, other].forEach((instance) => instance.close()));
  await until(async () => (asked.peers.size === 2 && other.peers.size === 2) || undefined);
  const ask = async (): Promise<readonly (boolean | undefined)[]> =>
    await Promise.all(
      users.map(async (user) => {
        const [answer] = await asked.store.permissions.check(tenant, mayView(user, token));
        return answer?.allowed;
      }),
    );
  // What the standby says of the token is known to both, and answers are kept.
  for (let nth = 0; nth < 3; nth += 1) assert.ok((await ask()).every((allowed) => allowed));
  await followed.pause();
  closing.push(async () => await followed.resume());
  await writing.schemas.write(tenant, schema("owner"));
  const before = other.asked.length;
  assert.deepEqual(
    await ask(),
    users.map(() => false),
  );
  assert.ok(other.asked.length > before);
});
