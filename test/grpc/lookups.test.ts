import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";

import { status } from "@grpc/grpc-js";

import type { TenantId } from "../../src/base/tuple.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import type { LookupEntityQuestion, LookupStore } from "../../src/store/store.ts";
import { factsOf } from "../differential/facts-text.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity doc {
    relation viewer @user @group#member
    attribute level integer
    permission view = viewer
    permission fits = viewer and above(level)
  }
  rule above(level integer) { level > context.data.least }
`;

/** Long ones, so that unread data fills every buffer on the route. */
const many = Array.from({ length: 5_000 }, (_, index) => `${index}`.padStart(100, "0"));

for (const engine of engines) {
  describe(`lookups over gRPC on ${engine.name}`, () => {
    let app: TestApp;
    let grpc: GrpcApp;
    let tenantId: string;
    /** What the store was asked for entities. */
    const asked: LookupEntityQuestion[] = [];

    before(async () => {
      app = await engine.start();
      const { lookups } = app.store;
      const noting: LookupStore = {
        entities: async (tenant, question) => {
          asked.push(question);
          return await lookups.entities(tenant, question);
        },
        subjects: async (tenant, question) => await lookups.subjects(tenant, question),
      };
      const store = { ...app.store, lookups: noting };
      grpc = await serveGrpc({ ...app.service, store });
      tenantId = (await app.tenant(schema)).split("/").at(-1) ?? "";
      await write([
        "group:crew#member@user:ada",
        "doc:1#viewer@user:ada",
        "doc:2#viewer@group:crew#member",
        "doc:3#viewer@user:ada",
        ...many.map((id) => `doc:${id}#viewer@user:many`),
      ]);
    });
    after(async () => {
      await grpc.close();
      await app.close();
    });

    async function write(lines: readonly string[], to = tenantId): Promise<void> {
      const data = { schemaVersion: undefined, ...factsOf(lines) };
      // It is a tenant that was created before.
      await app.store.data.write(to as TenantId, data);
    }

    const view = (user: string) => ({
      tenantId,
      metadata: {},
      entityType: "doc",
      permission: "view",
      subject: { type: "user", id: user },
    });

    test("entities come in pages, and a token goes on over either transport", async () => {
      const request = { ...view("ada"), scope: { doc: { data: ["1", "2", "3"] } } };
      const all = await grpc.client.call(Permission.method.lookupEntity, request);
      assert.deepEqual([all.entityIds, all.continuousToken], [["1", "2", "3"], ""]);
      const first = await grpc.client.call(Permission.method.lookupEntity, {
        ...request,
        pageSize: 1,
      });
      assert.deepEqual(first.entityIds, ["1"]);
      const rest = await app.post(`/v1/tenants/${tenantId}/permissions/lookup-entity`, {
        metadata: {},
        entity_type: "doc",
        permission: "view",
        subject: { type: "user", id: "ada" },
        scope: { doc: { data: ["1", "2", "3"] } },
        page_size: 1,
        continuous_token: first.continuousToken,
      });
      const second = { entity_ids: ["2"], continuous_token: rest.text("continuous_token") };
      assert.deepEqual(rest.body, second);
      const last = await grpc.client.call(Permission.method.lookupEntity, {
        ...request,
        continuousToken: second.continuous_token,
      });
      assert.deepEqual([last.entityIds, last.continuousToken], [["3"], ""]);
    });

    test("subjects come in pages", async () => {
      const request = {
        tenantId,
        metadata: {},
        entity: { type: "doc", id: "2" },
        permission: "view",
        subjectReference: { type: "user" },
        context: {
          tuples: factsOf(["group:crew#member@user:bob"]).tuples.map((one) => ({ ...one })),
        },
        pageSize: 1,
      };
      const first = await grpc.client.call(Permission.method.lookupSubject, request);
      assert.deepEqual(first.subjectIds, ["ada"]);
      const second = await grpc.client.call(Permission.method.lookupSubject, {
        ...request,
        continuousToken: first.continuousToken,
      });
      assert.deepEqual([second.subjectIds, second.continuousToken], [["bob"], ""]);
      const usersets = await grpc.client.call(Permission.method.lookupSubject, {
        ...request,
        subjectReference: { type: "group", relation: "member" },
      });
      assert.deepEqual(usersets.subjectIds, ["crew"]);
    });

    test("a stream has a message for each entity, with the token to go on behind it", async () => {
      const found: string[] = [];
      let token = "";
      for await (const message of grpc.client.stream(
        Permission.method.lookupEntityStream,
        view("many"),
      )) {
        found.push(message.entityId);
        token = found.length === 3_210 ? message.continuousToken : token;
      }
      assert.deepEqual(found, many);
      const behind: string[] = [];
      for await (const message of grpc.client.stream(Permission.method.lookupEntityStream, {
        ...view("many"),
        continuousToken: token,
        pageSize: 5,
      })) {
        behind.push(message.entityId);
      }
      assert.deepEqual(behind, many.slice(3_210, 3_215));
    });

    test("a stream goes on in the state and the schema that it began in", async () => {
      const path = await app.tenant(schema);
      const id = path.split("/").at(-1) ?? "";
      const lines = many.map((one) => `doc:${one}#viewer@user:many`);
      await write(lines, id);
      const stream = grpc.client.stream(Permission.method.lookupEntityStream, {
        ...view("many"),
        tenantId: id,
      });
      const found = [(await stream.next()).value?.entityId];
      // What is not read fills every buffer, so the later batches are not there yet.
      await write(
        many.slice(1_000, 2_000).map((one) => `doc:${one}+#viewer@user:many`),
        id,
      );
      const away = { tuple_filter: { relation: "viewer" }, attribute_filter: {} };
      assert.equal((await app.post(`${path}/data/delete`, away)).status, 200);
      const bare = "entity user {} entity doc { relation viewer @user }";
      assert.equal((await app.post(`${path}/schemas/write`, { schema: bare })).status, 200);
      for await (const message of stream) found.push(message.entityId);
      assert.deepEqual(found, many);
    });

    test("errors are the same as over REST", async () => {
      const good = view("ada");
      for (const { request, rest } of [
        { request: { ...good, entityType: "" }, rest: { entity_type: "" } },
        { request: { ...good, entityType: "page" }, rest: { entity_type: "page" } },
        { request: { ...good, permission: "fly" }, rest: { permission: "fly" } },
        { request: { ...good, permission: "fits" }, rest: { permission: "fits" } },
        { request: { ...good, subject: { id: "1" } }, rest: { subject: { id: "1" } } },
        { request: { ...good, metadata: { depth: -1 } }, rest: { metadata: { depth: -1 } } },
        {
          request: { ...good, metadata: { snapToken: "x" } },
          rest: { metadata: { snap_token: "x" } },
        },
        {
          request: { ...good, scope: { doc: { data: ["a b"] } } },
          rest: { scope: { doc: { data: ["a b"] } } },
        },
        { request: { ...good, continuousToken: "x" }, rest: { continuous_token: "x" } },
      ]) {
        const answer = await app.post(`/v1/tenants/${tenantId}/permissions/lookup-entity`, {
          metadata: {},
          entity_type: "doc",
          permission: "view",
          subject: { type: "user", id: "ada" },
          ...rest,
        });
        assert.equal(answer.status, 400, JSON.stringify(answer.body));
        const expected = { code: status.INVALID_ARGUMENT, details: answer.message };
        const call = grpc.client.call(Permission.method.lookupEntity, request);
        assert.deepEqual(await failure(call), expected);
        const stream = grpc.client.stream(Permission.method.lookupEntityStream, request);
        assert.deepEqual(await failure(stream.next()), expected);
      }
    });

    test("clients that read nothing keep neither batches nor connections", async () => {
      const stalled = Array.from({ length: 8 }, () =>
        grpc.client.stream(Permission.method.lookupEntityStream, view("many")),
      );
      asked.length = 0;
      for (const stream of stalled) {
        const first = await stream.next();
        assert.equal(first.done ? undefined : first.value.entityId, many[0]);
      }
      const others = await Promise.all(
        Array.from({ length: 8 }, async () => {
          return await grpc.client.call(Permission.method.lookupEntity, {
            ...view("ada"),
            pageSize: 1,
          });
        }),
      );
      assert.deepEqual(
        others.map(({ entityIds }) => entityIds),
        others.map(() => ["1"]),
      );
      const batches = asked.filter(({ limit }) => limit > 1);
      assert.deepEqual(
        batches.map(({ limit, after: behind, signal }) => [limit, behind, signal?.aborted]),
        stalled.map(() => [1_000, undefined, false]),
      );
      await Promise.all(stalled.map(async (stream) => await stream.return(undefined)));
      for (const { signal } of batches) {
        if (signal?.aborted === false) await once(signal, "abort");
      }
    });
  });
}
