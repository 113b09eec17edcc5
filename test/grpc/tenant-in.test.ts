import assert from "node:assert/strict";
import { test } from "node:test";

import { create, toBinary } from "@bufbuild/protobuf";

import { DataWriteRequestSchema } from "../../src/gen/base/v1/data_pb.ts";
import { tenantIn } from "../../src/grpc/tenant-in.ts";

for (const [length, isRead] of [
  [1, true],
  [127, true],
  [128, true],
  [129, false],
] as const) {
  test(`an id of ${length} characters is ${isRead ? "" : "not "}read from the beginning`, () => {
    const tenantId = "t".repeat(length);
    const request = create(DataWriteRequestSchema, { tenantId, metadata: { schemaVersion: "1" } });
    const bytes = Buffer.from(toBinary(DataWriteRequestSchema, request));
    assert.equal(tenantIn(bytes), isRead ? tenantId : undefined);
  });
}
