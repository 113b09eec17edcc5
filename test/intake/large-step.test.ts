import assert from "node:assert/strict";
import { test } from "node:test";

import { usualIntake } from "../support/usual-intake.ts";

test("a body whose client has left does not wait for its turn", async () => {
  const intake = usualIntake();
  const begun: number[] = [];
  const client = new AbortController();
  const first = intake.largeStep(undefined).then(() => begun.push(1));
  const second = intake.largeStep(undefined, client.signal).then(() => begun.push(2));
  const third = intake.largeStep(undefined).then(() => begun.push(3));
  client.abort();
  await assert.rejects(second, { code: "CANCELLED" });
  await assert.rejects(intake.largeStep(undefined, client.signal), { code: "CANCELLED" });
  await Promise.all([first, third]);
  assert.deepEqual(begun, [1, 3]);
});
