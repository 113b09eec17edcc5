import assert from "node:assert/strict";
import { test } from "node:test";

import { FairQueue } from "../../src/base/fair-queue.ts";
import type { TenantId } from "../../src/base/tuple.ts";

test("what is added while it waits already waits once", () => {
  const turns = new FairQueue<{ readonly tenant: TenantId }>();
  const waiting = { tenant: "a" as TenantId };
  turns.add(waiting);
  turns.add(waiting);
  assert.equal(turns.size, 1);
  assert.equal(turns.next(), waiting);
  assert.equal(turns.size, 0);
  assert.equal(turns.next(), undefined);
});
