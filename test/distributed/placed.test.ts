/** Instances that share checks of tenants on several clusters. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { fails, openPlaced, openStore, pool, tenantWithSchema, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { openMover } from "../support/moves.ts";
import { openPlacedOver } from "../support/placed-databases.ts";
import { Addresses, mayView, startInstance } from "./instances.ts";

const users = Array.from({ length: 20 }, (_, nth) => `user${nth}`);

test("a check of a tenant on any cluster goes to an instance, and is of the tenant's new cluster after a move", async (t) => {
  const cache = { maxBytes: 1_000_000, maxEntries: 1_000 };
  const placed = await openPlaced({ cache });
  const second = await openPlacedOver(placed.urls, { pool }, async (url, tokens) =>
    openStore(url, { ...tokens, cache }),
  );
  const mover = await openMover(placed.urls);
  const addresses = new Addresses();
  const asked = await startInstance(placed.store, addresses);
  const other = await startInstance(second, addresses);
  t.after(async () => {
    for (const instance of [asked, other]) instance.close();
    await mover.close();
    await second.close();
    await placed.close();
  });
  await until(async () => (asked.peers.size === 2 && other.peers.size === 2) || undefined);

  /** How many of the users may view the document, asked at the first instance. */
  const count = async (tenant: TenantId, token: SnapToken): Promise<number> => {
    const answers = await Promise.all(
      users.map(async (user) => await asked.store.permissions.check(tenant, mayView(user, token))),
    );
    return answers.filter(([answer]) => answer?.allowed === true).length;
  };
  const tuples = users.map((user) => `doc:1#viewer@user:${user}`);
  for (const cluster of ["a", "b"]) {
    const tenant = await tenantWithSchema(placed.store, cluster);
    const token = await write(placed.store, tenant, { tuples });
    const before = other.asked.length;
    assert.equal(await count(tenant, token), users.length);
    assert.ok(other.asked.length > before, `checks on ${cluster} are shared`);
    await mover.run({ tenant, to: "c" });
    await fails(count(tenant, token), "SNAP_TOKEN_EXPIRED");
    const [, ...rest] = tuples;
    const changed = await write(placed.store, tenant, { tuples: rest });
    assert.equal(await count(tenant, changed), users.length);
  }
});
