import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { status } from "@grpc/grpc-js";

import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { createHealth } from "../../src/service/health.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { fakeClusters } from "../support/fake-clusters.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

describe("gRPC health", () => {
  let app: TestApp;
  let grpc: GrpcApp;
  let answers: boolean;
  const storage = {
    ping: async (): Promise<void> => {
      if (!answers) throw new Error("down");
    },
  };
  before(async () => {
    app = await (engines[0] ?? assert.fail("no engine")).start();
  });
  after(async () => await app.close());

  async function serve(): Promise<void> {
    answers = true;
    grpc = await serveGrpc({ ...app.service, health: createHealth(storage) });
  }

  test("it says whether storage answers, for each service", async (t) => {
    await serve();
    t.after(async () => await grpc.close());
    for (const service of ["", "base.v1.Permission", "anything"]) {
      const { status: state } = await grpc.client.call(Health.method.check, { service });
      assert.equal(state, ServingStatus.SERVING);
    }
    answers = false;
    const { status: state } = await grpc.client.call(Health.method.check, {});
    assert.equal(state, ServingStatus.NOT_SERVING);
  });

  test("each cluster is a service, whose name says so", async (t) => {
    const clusters = fakeClusters("east", "west");
    clusters[1].answers = false;
    const health = createHealth({ ...storage, clusters });
    const served = await serveGrpc({ ...app.service, health });
    t.after(async () => await served.close());
    const stateOf = async (service: string): Promise<ServingStatus> =>
      (await served.client.call(Health.method.check, { service })).status;
    assert.equal(await stateOf("cluster.east"), ServingStatus.SERVING);
    assert.equal(await stateOf("cluster.west"), ServingStatus.NOT_SERVING);
    assert.equal(await stateOf(""), ServingStatus.SERVING);
    assert.equal((await failure(stateOf("cluster.north"))).code, status.NOT_FOUND);
    for await (const state of served.client.stream(Health.method.watch, {
      service: "cluster.north",
    })) {
      assert.equal(state.status, ServingStatus.SERVICE_UNKNOWN);
      break;
    }
    health.drain();
    assert.equal(await stateOf("cluster.east"), ServingStatus.NOT_SERVING);
  });

  test("a watcher hears of changes and of the end", async () => {
    answers = true;
    const service = { ...app.service, health: createHealth(storage) };
    const watched = await serveGrpc(service);
    const states: ServingStatus[] = [];
    const watching = (async () => {
      for await (const { status: state } of watched.client.stream(Health.method.watch, {})) {
        states.push(state);
        if (states.length === 1) answers = false;
        if (states.length === 2) answers = true;
        if (states.length === 3) service.health.drain();
      }
    })();
    const { code } = await failure(watching);
    assert.equal(code, status.UNAVAILABLE);
    assert.deepEqual(states, [
      ServingStatus.SERVING,
      ServingStatus.NOT_SERVING,
      ServingStatus.SERVING,
      ServingStatus.NOT_SERVING,
    ]);
    await watched.close();
  });

  test("a watcher that leaves does not keep the server from closing", async () => {
    await serve();
    for await (const { status: state } of grpc.client.stream(Health.method.watch, {})) {
      assert.equal(state, ServingStatus.SERVING);
      break;
    }
    await grpc.close();
  });
});
