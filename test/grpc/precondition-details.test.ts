import assert from "node:assert/strict";
import { test } from "node:test";

import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";

import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { PreconditionFailureSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../src/gen/google/rpc/status_pb.ts";
import { Data } from "../../src/gen/pemba/v1/data_pb.ts";
import { engines } from "../support/engines.ts";
import { serveGrpc, serviceError } from "../support/grpc.ts";

/** What clients take of a call in headers, at least. */
const headersMax = 8 * 1024;

const schema = "entity user {} entity doc { relation owner @user }";

function tuple(id: string): {
  readonly entity: { readonly type: string; readonly id: string };
  readonly relation: string;
  readonly subject: { readonly type: string; readonly id: string };
} {
  return { entity: { type: "doc", id }, relation: "owner", subject: { type: "user", id } };
}

for (const engine of engines) {
  test(`a change on ${engine.name} tells every precondition that does not hold, over gRPC as over REST`, async (t) => {
    const app = await engine.start();
    const grpc = await serveGrpc(app.service);
    t.after(async () => {
      await grpc.close();
      await app.close();
    });
    await grpc.client.call(Schema.method.write, { tenantId: "t1", schema });
    for (const { count, id, isTold } of [
      { count: 3, id: (nth: number) => `a${nth}`, isTold: () => true },
      // The texts of the tuples would take four times the room that there is.
      {
        count: 100,
        id: (nth: number) => String(nth).padStart(120, "x"),
        isTold: (nth: number) => nth < 1,
      },
    ]) {
      const tuples = Array.from({ length: count }, (_, nth) => tuple(id(nth)));
      const preconditions = tuples.map((one) => ({ tuple: one, exists: true }));
      const asked = grpc.client.call(Data.method.change, {
        tenantId: "t1",
        preconditions,
        write: { tuples: [tuple("new")] },
      });
      const { code, details, metadata } = await serviceError(asked);
      assert.equal(code, status.FAILED_PRECONDITION);
      const [bytes] = metadata.get("grpc-status-details-bin");
      assert.ok(bytes instanceof Buffer);
      assert.ok((bytes.length * 4) / 3 + encodeURIComponent(details).length < headersMax - 512);
      const told = fromBinary(StatusSchema, bytes);
      assert.equal(told.code, code);
      assert.ok(details.startsWith(told.message.replace(/\.\.\.$/, "")), told.message);
      const [packed] = told.details;
      const found = packed && anyUnpack(packed, PreconditionFailureSchema);
      const { body } = await app.post("/v1/tenants/t1/data/change", {
        preconditions,
        write: { tuples: [tuple("new")] },
      });
      const inRest = (body as { details: { field: string; message: string }[] }).details;
      assert.equal(inRest.length, count);
      assert.deepEqual(
        found?.violations.map(({ subject }) => subject),
        inRest.map(({ field }) => field),
      );
      for (const [index, { type, description }] of (found?.violations ?? []).entries()) {
        assert.equal(type, "PRECONDITION");
        if (isTold(index)) assert.equal(description, inRest[index]?.message);
        else assert.ok(["", inRest[index]?.message].includes(description));
      }
    }
  });
}

test("other errors have no details over gRPC", async (t) => {
  const [memory] = engines;
  assert.ok(memory !== undefined);
  const app = await memory.start();
  const grpc = await serveGrpc(app.service);
  t.after(async () => {
    await grpc.close();
    await app.close();
  });
  const { metadata } = await serviceError(
    grpc.client.call(Schema.method.write, { tenantId: "t1", schema: "x" }),
  );
  assert.deepEqual(metadata.get("grpc-status-details-bin"), []);
});
