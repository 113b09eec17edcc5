import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";

import { create, type MessageShape } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { IntegerValueSchema } from "../../src/gen/base/v1/value_pb.ts";
import {
  DataChange_Operation as Operation,
  Watch,
  type WatchResponseSchema,
} from "../../src/gen/base/v1/watch_pb.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { endlessChanges, serviceOf, silentChanges } from "../support/endless-changes.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

const schema = `
  entity user {}
  entity doc {
    relation viewer @user
    attribute level integer
  }
`;

type Response = MessageShape<typeof WatchResponseSchema>;

function viewer(id: string): object {
  return {
    entity: { type: "doc", id },
    relation: "viewer",
    subject: { type: "user", id: "ada", relation: "" },
  };
}

function level(data: number): object {
  return {
    entity: { type: "doc", id: "1" },
    attribute: "level",
    value: anyPack(IntegerValueSchema, create(IntegerValueSchema, { data })),
  };
}

async function serve(t: TestContext, service: Service): Promise<GrpcApp> {
  const grpc = await serveGrpc(service);
  t.after(async () => await grpc.close());
  return grpc;
}

async function next(stream: AsyncGenerator<Response>): Promise<Response> {
  const result = await stream.next();
  return result.done === true ? assert.fail("the stream has ended") : result.value;
}

function tokenOf({ changes }: Response): string {
  return changes?.snapToken ?? assert.fail("no changes");
}

/** The operation and the id of the entity of each change. */
function changesOf({ changes }: Response): readonly string[] {
  return (changes?.dataChanges ?? []).map(({ operation, type }) => {
    const name = operation === Operation.CREATE ? "create" : "delete";
    return `${name} ${type.case} ${type.value?.entity?.id}`;
  });
}

for (const engine of engines) {
  describe(`watch over gRPC on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => {
      app = await engine.start();
    });
    after(async () => {
      await app.close();
    });

    async function newTenant(): Promise<string> {
      return (await app.tenant(schema)).replace("/v1/tenants/", "");
    }

    async function write(
      { client }: GrpcApp,
      tenantId: string,
      data: { readonly tuples?: object[]; readonly attributes?: object[] },
    ): Promise<string> {
      const request = { tenantId, metadata: {}, ...data };
      return (await client.call(Data.method.write, request)).snapToken;
    }

    test("each transaction is a message", async (t) => {
      const grpc = await serve(t, app.service);
      const tenantId = await newTenant();
      const snapToken = await write(grpc, tenantId, { attributes: [level(1)] });
      await write(grpc, tenantId, { tuples: [viewer("1")] });
      await write(grpc, tenantId, { attributes: [level(2)] });
      const stream = grpc.client.stream(Watch.method.watch, { tenantId, snapToken });
      const first = await next(stream);
      assert.deepEqual(changesOf(first), ["create tuple 1"]);
      const second = await next(stream);
      assert.deepEqual(changesOf(second), ["delete attribute 1", "create attribute 1"]);
      const values = second.changes?.dataChanges.map(({ type }) =>
        type.case === "attribute" && type.value.value !== undefined
          ? anyUnpack(type.value.value, IntegerValueSchema)?.data
          : undefined,
      );
      assert.deepEqual(values, [1, 2]);
      await stream.return(undefined);

      const again = grpc.client.stream(Watch.method.watch, { tenantId, snapToken: tokenOf(first) });
      assert.deepEqual(changesOf(await next(again)), changesOf(second));
      await again.return(undefined);
    });

    test("a wrong token and an unknown tenant end the call with their status", async (t) => {
      const { client } = await serve(t, app.service);
      const tenantId = await newTenant();
      const bad = client.stream(Watch.method.watch, { tenantId, snapToken: "x" }).next();
      assert.deepEqual(await failure(bad), {
        code: status.INVALID_ARGUMENT,
        details:
          "ERROR_CODE_INVALID_SNAP_TOKEN: snap_token: is malformed, expected a token of an earlier answer",
      });
      const unknown = client.stream(Watch.method.watch, { tenantId: "missing" }).next();
      assert.equal((await failure(unknown)).code, status.NOT_FOUND);
    });

    test("a deleted tenant ends its streams with NOT_FOUND", async (t) => {
      const grpc = await serve(t, app.service);
      const tenantId = await newTenant();
      const snapToken = await write(grpc, tenantId, {});
      await write(grpc, tenantId, { tuples: [viewer("1")] });
      const stream = grpc.client.stream(Watch.method.watch, { tenantId, snapToken });
      await next(stream);
      const end = failure(stream.next());
      await grpc.client.call(Tenancy.method.delete, { id: tenantId });
      assert.equal((await end).code, status.NOT_FOUND);
    });

    test("when the server stops, a stream ends with a token to resume with", async (t) => {
      const service = { ...app.service, health: createHealth(app.store) };
      const grpc = await serve(t, service);
      const tenantId = await newTenant();
      const snapToken = await write(grpc, tenantId, { tuples: [viewer("1")] });
      const stream = grpc.client.stream(Watch.method.watch, { tenantId, snapToken });
      const waiting = next(stream);
      await write(grpc, tenantId, { tuples: [viewer("2")] });
      let token = tokenOf(await waiting);
      const end = failure(
        (async () => {
          // It may have come to a later state since the token that it has given.
          for await (const message of stream) {
            assert.deepEqual(changesOf(message), []);
            token = tokenOf(message);
          }
        })(),
      );
      service.health.drain();
      assert.equal((await end).code, status.UNAVAILABLE);

      const other = await serve(t, app.service);
      await write(other, tenantId, { tuples: [viewer("3")] });
      const resumed = other.client.stream(Watch.method.watch, { tenantId, snapToken: token });
      assert.deepEqual(changesOf(await next(resumed)), ["create tuple 3"]);
      await resumed.return(undefined);
    });
  });
}

test("watch that is not enabled says which key enables it", async (t) => {
  const { changes } = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const { client } = await serve(t, serviceOf(changes));
  const call = client.stream(Watch.method.watch, { tenantId: "t1" }).next();
  const { code, details } = await failure(call);
  assert.equal(code, status.UNIMPLEMENTED);
  assert.match(details, /^ERROR_CODE_NOT_IMPLEMENTED: .*service\.watch\.enabled/);
});

test("a client that reads slowly is not read ahead for", async (t) => {
  const { changes, taken, left } = endlessChanges();
  const { client } = await serve(t, serviceOf(changes));
  const stream = client.stream(Watch.method.watch, { tenantId: "t1" });
  for (let read = 1; read <= 100; read++) {
    await next(stream);
    // The buffers on the route hold some mebibytes.
    assert.ok(taken() - read < 40, `${taken()} messages were taken for ${read} that were read`);
  }
  await stream.return(undefined);
  await left;
});

test("a stream ends with its client, also while nothing changes", async (t) => {
  const { changes, followed, left } = silentChanges();
  const { client } = await serve(t, serviceOf(changes));
  const leaving = new AbortController();
  const { signal } = leaving;
  const waiting = failure(client.stream(Watch.method.watch, { tenantId: "t1" }, { signal }).next());
  await followed;
  leaving.abort();
  assert.equal((await waiting).code, status.CANCELLED);
  await left;
});
