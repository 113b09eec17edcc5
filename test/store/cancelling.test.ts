import assert from "node:assert/strict";
import { test } from "node:test";

import { Cancelling } from "../../src/store/postgres/connect/cancelling.ts";

test("each cancellation that was sent to a backend may hit one statement there, and no other", () => {
  const cancelling = new Cancelling();
  cancelling.sent(7);
  cancelling.sent(7);
  assert.equal(cancelling.hit(8), false);
  assert.equal(cancelling.hit(7), true);
  assert.equal(cancelling.hit(7), true);
  assert.equal(cancelling.hit(7), false);
});

test("what has no backend yet is not taken for cancelled by us", () => {
  const cancelling = new Cancelling();
  cancelling.sent(undefined);
  assert.equal(cancelling.hit(undefined), false);
});
