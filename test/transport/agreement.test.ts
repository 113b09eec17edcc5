/**
 * One suite of behaviour, over both transports and both forms of REST, on both engines: each scenario runs
 * on each of the six, and each must answer every call as the others do, errors and their texts included.
 * The long test has a third engine, whose tenants are on three databases.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Bundle } from "../../src/gen/base/v1/bundle_pb.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { engines, placedEngine, type TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { isLong } from "../support/run-length.ts";
import { grpcClient, protobufForm, restClient } from "./client.ts";
import { type Operation, operations } from "./operations.ts";
import { scenarios } from "./scenarios.ts";
import { assertAlike, type Line, transcriptOf } from "./transcript.ts";

const compared = isLong ? [...engines, placedEngine] : engines;

describe(`REST and gRPC, ${compared.map(({ name }) => name).join(" and ")}`, () => {
  const apps: {
    readonly name: string;
    readonly app: TestApp;
    readonly url: string;
    readonly grpc: GrpcApp;
  }[] = [];
  before(async () => {
    for (const engine of compared) {
      const app = await engine.start({ maxDataPerWrite: 20 });
      const url = await app.app.listen({ host: "127.0.0.1", port: 0 });
      apps.push({ name: engine.name, app, url, grpc: await serveGrpc(app.service) });
    }
  });
  after(async () => {
    for (const { app, grpc } of apps) {
      await grpc.close();
      await app.close();
    }
  });

  const covered = new Set<string>();
  for (const [name, scenario] of Object.entries(scenarios)) {
    test(`answer alike: ${name}`, async () => {
      const transcripts = new Map<string, readonly Line[]>();
      for (const { name: engine, url, grpc } of apps) {
        transcripts.set(`${engine}, REST`, await transcriptOf(restClient(url), scenario));
        const protobuf = restClient(url, protobufForm);
        transcripts.set(`${engine}, REST in protobuf`, await transcriptOf(protobuf, scenario));
        transcripts.set(`${engine}, gRPC`, await transcriptOf(grpcClient(grpc.client), scenario));
      }
      const [first, ...others] = [...transcripts];
      assert.ok(first !== undefined && others.length === 3 * compared.length - 1);
      for (const { operation } of first[1]) covered.add(operation);
      for (const other of others) assertAlike(first, other);
    });
  }

  test("no operation is left out of the scenarios", () => {
    assert.deepEqual(
      Object.keys(operations).filter((name) => !covered.has(name)),
      [],
    );
  });

  test("no method of the API is left out of the operations", () => {
    const known = new Set(Object.values<Operation>(operations).map(({ rpc }) => rpc));
    const methods = [Permission, Schema, Data, Bundle, Tenancy, Watch].flatMap(
      (one) => one.methods,
    );
    const missing = methods.filter((method) => ![...known].some((rpc) => rpc === method));
    assert.deepEqual(
      missing.map(({ parent, name }) => `${parent.name}.${name}`),
      [],
    );
  });
});
