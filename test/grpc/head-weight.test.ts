import assert from "node:assert/strict";
import { test } from "node:test";

import { HeadWeight } from "../../src/grpc/head-weight.ts";

test("V8 counts what heads of calls hold outside of its memory", () => {
  const weight = new HeadWeight();
  const before = process.memoryUsage().arrayBuffers;
  for (let sent = 0; sent < 70; sent++) weight.add(1024 * 1024);
  assert.ok(process.memoryUsage().arrayBuffers - before >= 64 * 1024 * 1024);
});
