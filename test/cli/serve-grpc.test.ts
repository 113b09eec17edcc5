import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";

import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { connectGrpc, failure } from "../support/grpc.ts";
import { servePemba } from "../support/pemba.ts";

test("REST and gRPC serve the same data", async (t) => {
  const { url, grpc } = await servePemba(t);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  await client.call(Tenancy.method.create, { id: "both", name: "Both" });
  const body = await (await fetch(`${url}/v1/tenants/list`, { method: "POST" })).text();
  assert.match(body, /"id":"both","name":"Both"/);
});

test("a signal ends the watchers of health and then the process", async (t) => {
  const { grpc, process: server, finished } = await servePemba(t);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const states: ServingStatus[] = [];
  const watching = (async () => {
    for await (const { status: state } of client.stream(Health.method.watch, {})) {
      states.push(state);
      if (states.length === 1) server.kill("SIGTERM");
    }
  })();
  assert.equal((await failure(watching)).code, status.UNAVAILABLE);
  assert.deepEqual(states, [ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  assert.equal((await finished).status, 0);
});

test("with REST switched off gRPC is served alone", async (t) => {
  const { grpc, process: server, finished } = await servePemba(t, ["--http-enabled=false"]);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const { tenants } = await client.call(Tenancy.method.list, {});
  assert.deepEqual(
    tenants.map(({ id }) => id),
    ["t1"],
  );
  server.kill("SIGTERM");
  await once(server, "exit");
  assert.equal((await finished).status, 0);
});
