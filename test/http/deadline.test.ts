/** What becomes of a request whose client says how long it waits. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, beforeEach, describe, test } from "node:test";

import { status } from "@grpc/grpc-js";
import { pino } from "pino";

import { cancelled, PembaError } from "../../src/base/error.ts";
import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { limitChanges } from "../../src/store/layer/limit-changes.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";
import { type Engine, engines, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
const tuple = {
  entity: { type: "doc", id: "1" },
  relation: "viewer",
  subject: { type: "user", id: "ada" },
};
const late = {
  code: 4,
  message: "ERROR_CODE_DEADLINE_EXCEEDED: the time in `grpc-timeout` is over",
  details: [],
};

for (const engine of engines) describe(`deadlines on ${engine.name}`, () => suite(engine));

function suite(engine: Engine): void {
  let started: TestApp;
  let app: HttpApp;
  let url: string;
  let tenant: string;
  let gate: PromiseWithResolvers<void>;
  let begun: number;
  let grpc: GrpcApp;
  const lines: string[] = [];
  const codes: string[] = [];
  /** How many requests have come. */
  let came: number;
  const telemetry: Telemetry = {
    ...noTelemetry,
    isOn: true,
    begin: () => {
      came++;
      return {
        traceId: undefined,
        run: (work) => work(),
        end: (code) => void codes.push(code),
      };
    },
  };

  before(async () => {
    started = await engine.start();
    tenant = await started.tenant(schema);
    const { store } = started;
    const { data, lookups } = store;
    const held = {
      ...store,
      data: {
        ...data,
        write: async (...given: Parameters<typeof data.write>) => {
          begun++;
          await gate.promise;
          return await store.data.write(...given);
        },
        readTuples: async (...given: Parameters<typeof data.readTuples>) =>
          await store.data.readTuples(...given),
        readAttributes: async (...given: Parameters<typeof data.readAttributes>) =>
          await store.data.readAttributes(...given),
        delete: async (...given: Parameters<typeof data.delete>) =>
          await store.data.delete(...given),
      },
      lookups: {
        subjects: async (...given: Parameters<typeof lookups.subjects>) =>
          await store.lookups.subjects(...given),
        entities: async (...given: Parameters<typeof lookups.entities>) => {
          if (given[1].after === undefined) return await store.lookups.entities(...given);
          await once(given[1].signal ?? assert.fail(), "abort");
          throw cancelled(undefined);
        },
      },
    };
    const service = { ...started.service, store: withLayers(held, { changes: limitChanges(1) }) };
    const logger = pino({ level: "info" }, { write: (line) => void lines.push(line) });
    app = buildHttpServer({ service, admission: admitAll, logger, telemetry });
    grpc = await serveGrpc(service, admitAll, telemetry, logger);
    // So that no time goes into connecting.
    await grpc.client.call(Tenancy.method.list, {});
    url = await app.listen({ host: "127.0.0.1", port: 0 });
  });
  beforeEach(() => {
    gate = Promise.withResolvers();
    begun = 0;
    came = 0;
    lines.length = 0;
    codes.length = 0;
  });
  after(async () => {
    await grpc.close();
    await app.close();
    await started.close();
  });

  const post = async (path: string, body: object, timeout?: string): Promise<Response> =>
    await fetch(`${url}${tenant}/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      ...(timeout !== undefined && { headers: { "Grpc-Timeout": timeout } }),
    });
  const write = async (timeout?: string): Promise<Response> =>
    await post("data/write", { metadata: {}, tuples: [tuple] }, timeout);

  test("a request that takes longer than it says is answered with 504 at that time", async () => {
    // The time of a busy server may be over before its work has begun.
    for (let waitMs = 20; begun === 0; waitMs *= 2) {
      const answer = await write(`${waitMs}m`);
      assert.equal(answer.status, 504);
      assert.deepEqual(await answer.json(), late);
    }
    assert.equal(begun, 1);
    gate.resolve();
    assert.equal((await write("1H")).status, 200);
  });

  test("a time of less than a millisecond is over before the work begins", async () => {
    for (const timeout of ["0m", "1n", "999u"]) {
      const answer = await write(timeout);
      assert.equal(answer.status, 504, timeout);
      assert.deepEqual(await answer.json(), late);
    }
    assert.equal(begun, 0);
    assert.deepEqual(codes, ["CANCELLED", "CANCELLED", "CANCELLED"]);
  });

  test("a waiting change has left the queue by then", async () => {
    const running = write();
    await until(async () => (begun === 1 ? true : undefined));
    assert.equal((await write("20000u")).status, 504);
    gate.resolve();
    assert.equal((await running).status, 200);
    assert.equal((await write("10S")).status, 200);
    assert.equal(begun, 2);
  });

  test("a stream that has begun ends with the error as its last line", async () => {
    gate.resolve();
    const ids = Array.from({ length: 1_100 }, (_, index) => `${index}`);
    for (const some of [ids.slice(0, 600), ids.slice(600)]) {
      const tuples = some.map((id) => ({ ...tuple, entity: { type: "doc", id } }));
      assert.equal((await post("data/write", { metadata: {}, tuples })).status, 200);
    }
    const stream = async (timeout: string): Promise<Response> =>
      await post(
        "permissions/lookup-entity-stream",
        { metadata: {}, entity_type: "doc", permission: "view", subject: tuple.subject },
        timeout,
      );
    let answer = await stream("500m");
    for (let waitS = 1; answer.status === 504; waitS *= 2) answer = await stream(`${waitS}S`);
    assert.equal(answer.status, 200);
    const lines = (await answer.text()).trimEnd().split("\n");
    assert.deepEqual(JSON.parse(lines.at(-1) ?? ""), { error: late });
    assert.equal(lines.length, 1_000 + 1);
  });

  test("a client's own deadline is no warning, and is measured as its leaving", async () => {
    const running = write();
    await until(async () => (begun === 1 ? true : undefined));
    assert.equal((await write("20m")).status, 504);
    const message = { tenantId: tenant.split("/").at(-1) ?? "", metadata: {}, tuples: [tuple] };
    // The time may be over before the call has come to a busy server, which measures nothing then.
    for (let waitMs = 500; came < 3; waitMs *= 2) {
      const call = grpc.client.call(Data.method.write, message, { deadline: Date.now() + waitMs });
      assert.equal((await failure(call)).code, status.DEADLINE_EXCEEDED);
    }
    await until(async () => (codes.length === 2 ? true : undefined));
    assert.deepEqual(codes, ["CANCELLED", "CANCELLED"]);
    gate.resolve();
    assert.equal((await running).status, 200);
    assert.deepEqual(lines, []);
  });

  test("a deadline that is not the client's is a warning", async () => {
    const writing = write("1H");
    await until(async () => (begun === 1 ? true : undefined));
    gate.reject(new PembaError("DEADLINE_EXCEEDED", "the database ended the request"));
    const answer = await writing;
    assert.equal(answer.status, 504);
    assert.deepEqual(codes, ["DEADLINE_EXCEEDED"]);
    assert.match(lines.join(""), /"level":40.*the database ended the request/);
  });

  for (const timeout of ["", "5", "m", "5x", "-5m", "5.5S", "123456789m", "5 m"]) {
    test(`\`${timeout}\` is refused`, async () => {
      const answer = await write(timeout);
      assert.equal(answer.status, 400);
      const { code, details } = (await answer.json()) as { code: number; details: object[] };
      assert.equal(code, 3);
      assert.deepEqual(details, [
        {
          field: "grpc-timeout",
          message: `\`${timeout}\` is not a time, expected digits and a unit, such as \`500m\``,
        },
      ]);
    });
  }
}
