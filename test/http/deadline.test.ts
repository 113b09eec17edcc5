/** What becomes of a request whose client says how long it waits. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, beforeEach, describe, test } from "node:test";

import { pino } from "pino";

import { cancelled } from "../../src/base/error.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { limitChanges } from "../../src/service/limit-changes.ts";
import { until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";
import { type Engine, engines, type TestApp } from "../support/engines.ts";

const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
const tuple = {
  entity: { type: "doc", id: "1" },
  relation: "viewer",
  subject: { type: "user", id: "ada" },
};
const late = {
  code: 4,
  message: "ERROR_CODE_DEADLINE_EXCEEDED: the time that `grpc-timeout` gives is over",
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
    const service = { ...started.service, store: limitChanges(held, 1) };
    app = buildHttpServer({ service, admission: admitAll, logger: pino({ level: "silent" }) });
    url = await app.listen({ host: "127.0.0.1", port: 0 });
  });
  beforeEach(() => {
    gate = Promise.withResolvers();
    begun = 0;
  });
  after(async () => {
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
    const answer = await write("20m");
    assert.equal(answer.status, 504);
    assert.deepEqual(await answer.json(), late);
    assert.equal(begun, 1);
    gate.resolve();
    assert.equal((await write("1H")).status, 200);
  });

  test("a change that waits for its turn has left the queue by then", async () => {
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
    const answer = await post(
      "permissions/lookup-entity-stream",
      { metadata: {}, entity_type: "doc", permission: "view", subject: tuple.subject },
      "1S",
    );
    assert.equal(answer.status, 200);
    const lines = (await answer.text()).trimEnd().split("\n");
    assert.deepEqual(JSON.parse(lines.at(-1) ?? ""), { error: late });
    assert.equal(lines.length, 1_000 + 1);
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
