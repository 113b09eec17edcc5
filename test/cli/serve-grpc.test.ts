import assert from "node:assert/strict";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { connectGrpc, failure } from "../support/grpc.ts";
import { servePemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";
import { openStream } from "../support/text-stream.ts";

test("REST and gRPC serve the same data", async (t) => {
  const { url, grpc } = await serveHere(t);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  await client.call(Tenancy.method.create, { id: "both", name: "Both" });
  const body = await (await fetch(`${url}/v1/tenants/list`, { method: "POST" })).text();
  assert.match(body, /"id":"both","name":"Both"/);
});

test("a server that is stopped ends the watchers of health and then itself", async (t) => {
  const { grpc, stop, finished } = await serveHere(t);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const states: ServingStatus[] = [];
  const watching = (async () => {
    for await (const { status: state } of client.stream(Health.method.watch, {})) {
      states.push(state);
      if (states.length === 1) stop();
    }
  })();
  assert.equal((await failure(watching)).code, status.UNAVAILABLE);
  assert.deepEqual(states, [ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  await finished;
});

test("with REST switched off gRPC is served alone", async (t) => {
  const { url, grpc, stop, finished } = await serveHere(t, ["--http-enabled=false"]);
  assert.equal(url, "");
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const { tenants } = await client.call(Tenancy.method.list, {});
  assert.deepEqual(
    tenants.map(({ id }) => id),
    ["t1"],
  );
  stop();
  await finished;
});

test("a signal ends who watches changes, with a token to resume with, and then the process", async (t) => {
  const words = ["--service-watch-enabled"];
  const { url, grpc, process: server, finished } = await servePemba(t, words);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const tenantId = "busy";
  await client.call(Tenancy.method.create, { id: tenantId, name: "Busy" });
  const schema = "entity user {} entity document { relation owner @user }";
  await client.call(Schema.method.write, { tenantId, schema });
  const tokens: string[] = [];
  const overGrpc = (async () => {
    for await (const { changes } of client.stream(Watch.method.watch, { tenantId })) {
      tokens.push(changes?.snapToken ?? assert.fail("no changes"));
    }
  })();
  const overRest = await openStream(`${url}/v1/tenants/t1/watch`);
  // A call over gRPC is in progress some time after it was made.
  for (let nth = 0; tokens.length === 0; nth++) {
    const entity = { type: "document", id: `d${nth}` };
    const subject = { type: "user", id: "ada" };
    const tuples = [{ entity, relation: "owner", subject }];
    await client.call(Data.method.write, { tenantId, metadata: {}, tuples });
  }
  server.kill("SIGTERM");
  assert.equal((await failure(overGrpc)).code, status.UNAVAILABLE);
  assert.match((await overRest.next()) ?? "", /^\{"snap_token":"[^"]+","data_changes"/);
  assert.match((await overRest.next()) ?? "", /^\{"error":\{"code":14/);
  assert.equal(await overRest.next(), undefined);
  assert.equal((await finished).status, 0);
});
