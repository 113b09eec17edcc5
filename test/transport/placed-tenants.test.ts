/** What clients do with the clusters of tenants. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { status } from "@grpc/grpc-js";

import { Tenancy } from "../../src/gen/pemba/v1/tenancy_pb.ts";
import { placedEngine, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

describe("tenants on clusters", () => {
  let app: TestApp;
  let grpc: GrpcApp;
  before(async () => {
    app = await placedEngine.start();
    grpc = await serveGrpc(app.service);
  });
  after(async () => {
    await grpc.close();
    await app.close();
  });

  async function clustersOver(rest: boolean): Promise<Readonly<Record<string, string>>> {
    const tenants = rest
      ? (await app.post("/v1/tenants/list-placed", {})).body
      : await grpc.client.call(Tenancy.method.list, {});
    assert.ok(typeof tenants === "object" && tenants !== null && "tenants" in tenants);
    assert.ok(Array.isArray(tenants.tenants));
    return Object.fromEntries(
      tenants.tenants.map(({ id, cluster }: { id: string; cluster: string }) => [id, cluster]),
    );
  }

  test("a tenant is placed on the cluster that is named, and listed with it", async () => {
    const placed = await app.post("/v1/tenants/place", { id: "rest", name: "", cluster: "b" });
    assert.equal(placed.status, 200, placed.message);
    assert.match(JSON.stringify(placed.body), /^{"tenant":{"id":"rest",.*,"cluster":"b"}}$/);
    const { tenant } = await grpc.client.call(Tenancy.method.create, { id: "grpc", cluster: "c" });
    assert.equal(tenant?.cluster, "c");
    const expected = { grpc: "c", rest: "b", t1: "a" };
    for (const rest of [true, false]) assert.deepEqual(await clustersOver(rest), expected);
  });

  test("a cluster that there is not is refused by the name of the field", async () => {
    const refused = await app.post("/v1/tenants/place", { id: "x", name: "", cluster: "d" });
    assert.equal(refused.status, 400);
    assert.match(refused.message, /^ERROR_CODE_VALIDATION: cluster: `d` is none of the clusters/);
    const { code } = await failure(
      grpc.client.call(Tenancy.method.create, { id: "x", cluster: "d" }),
    );
    assert.equal(code, status.INVALID_ARGUMENT);
  });

  test("the server chooses the cluster where none is named, and tells base.v1 nothing of it", async () => {
    const placed = await app.post("/v1/tenants/place", { id: "any", name: "" });
    assert.match(JSON.stringify(placed.body), /"cluster":"[abc]"/);
    const created = await app.post("/v1/tenants/create", { id: "base", name: "", cluster: "d" });
    assert.equal(created.status, 200, created.message);
    assert.doesNotMatch(JSON.stringify(created.body), /cluster/);
  });
});
