/** What a process knows of where tenants are. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { Placement } from "../../src/store/placed/directory.ts";
import { Placements } from "../../src/store/placed/placements.ts";
import { fails, tenantId } from "./engines.ts";

/** A look in a directory that answers when it is told to. */
interface HeldLook {
  readonly begin: () => void;
  readonly answer: (found: Placement | undefined) => void;
  readonly refuse: (error: Error) => void;
}

function heldPlacements(): { readonly placements: Placements; readonly looks: HeldLook[] } {
  const looks: HeldLook[] = [];
  const placements = new Placements({
    find: (_tenant, begin) => {
      const { promise, resolve, reject } = Promise.withResolvers<Placement | undefined>();
      looks.push({ begin: () => begin?.(), answer: resolve, refuse: reject });
      return promise;
    },
  });
  return { placements, looks };
}

const tenant = tenantId("t");

function placedOn(cluster: string): Placement {
  return { tenant, cluster, state: "placed", version: "1" };
}

test("callers share a look that waits for its turn, and begin another one after it has begun", async () => {
  const { placements, looks } = heldPlacements();
  const early = [placements.find(tenant), placements.find(tenant)];
  assert.equal(looks.length, 1);
  looks[0]?.begin();
  const late = placements.find(tenant);
  assert.equal(looks.length, 2);
  looks[0]?.answer(undefined);
  looks[1]?.answer(placedOn("b"));
  assert.deepEqual(await Promise.all(early), [undefined, undefined]);
  assert.deepEqual(await late, placedOn("b"));
  assert.equal(placements.known(tenant), "b");
});

test("after a look that was refused before it began, callers look anew", async () => {
  const { placements, looks } = heldPlacements();
  const refused = placements.find(tenant);
  looks[0]?.refuse(new PembaError("CONCURRENCY_LIMIT_EXCEEDED", "too many"));
  await fails(refused, "CONCURRENCY_LIMIT_EXCEEDED");
  const found = placements.find(tenant);
  looks[1]?.begin();
  looks[1]?.answer(placedOn("a"));
  assert.deepEqual(await found, placedOn("a"));
});
