import assert from "node:assert/strict";
import { test } from "node:test";

import { FairQueue } from "../../src/base/fair-queue.ts";
import type { TenantId } from "../../src/base/tuple.ts";

test("what is added while it waits already waits once", () => {
  const queue = new FairQueue<{ readonly tenant: TenantId }>();
  const waiting = { tenant: "a" as TenantId };
  queue.add(waiting);
  queue.add(waiting);
  assert.equal(queue.size, 1);
  assert.equal(queue.next(), waiting);
  assert.equal(queue.size, 0);
  assert.equal(queue.next(), undefined);
});
