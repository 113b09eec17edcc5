import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";

import { pino } from "pino";

import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { fakeClusters } from "../support/fake-clusters.ts";

const [memory] = engines;
assert.ok(memory !== undefined);

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const checkOf = (data: string): string =>
  `{"metadata":{},"entity":{"type":"doc","id":"1"},"permission":"view","subject":{"type":"user","id":"1"},"context":{"data":${data}}}`;

describe("the REST protocol", () => {
  let app: TestApp;
  let path: string;
  before(async () => {
    app = await memory.start();
    path = await app.tenant(
      "entity user {}\nentity doc { relation viewer @user permission view = viewer }",
    );
  });
  after(async () => await app.close());

  test("an unknown path gives 404 with the error body, for any request body", async () => {
    for (const [method, url] of [
      ["GET", "/"],
      ["POST", "/v1/tenants/t1/schemas"],
      ["POST", "/v1/tenants/t1/schemas/write/"],
      ["POST", "/v2/tenants/list"],
    ] as const) {
      const { status, body, message } = await app.send(method, url, "{");
      assert.equal(status, 404);
      assert.match(message, /^ERROR_CODE_NOT_FOUND: no such path: `\/[^`]*`/);
      assert.match(JSON.stringify(body), /^{"code":5,.*"details":\[\]}$/);
    }
  });

  test("a key `__proto__` is an unknown field as any other", async () => {
    const missing = "metadata: is missing, expected an object";
    for (const key of ["other", "__proto__", "constructor"]) {
      const inner = JSON.stringify({ metadata: {} });
      const lacking = await app.send("POST", `${path}/permissions/check`, `{"${key}":${inner}}`);
      assert.equal(
        lacking.message,
        `ERROR_CODE_VALIDATION: ${missing}, and \`${key}\` is not a field of this request`,
      );
      const whole = checkOf("{}").replace("{", `{"${key}":${inner},`);
      const answered = await app.send("POST", `${path}/permissions/check`, whole);
      assert.equal(answered.text("can"), "RESULT_DENIED");
    }
  });

  test("an unknown path that is nearly a known one gets that one as a hint", async () => {
    for (const [url, meant] of [
      ["/v1/tenants/t1/permission/check", "/v1/tenants/t1/permissions/check"],
      ["/v1/tenants/t1/schema/write", "/v1/tenants/t1/schemas/write"],
      ["/v1/tenant/list", "/v1/tenants/list"],
      ["/v1/tenants/t1/data/writes", "/v1/tenants/t1/data/write"],
    ] as const) {
      const { status, message } = await app.send("POST", url, {});
      assert.equal(status, 404);
      assert.equal(
        message,
        `ERROR_CODE_NOT_FOUND: no such path: \`${url}\` (did you mean \`${meant}\`?)`,
      );
    }
    const far = await app.send("POST", `/v1/tenants/${"t".repeat(500)}/permission/check`, {});
    assert.match(far.message, /^ERROR_CODE_NOT_FOUND: no such path: `[^`]{103}`$/);
  });

  test("a wrong method on a known path gives 405 and says which are right", async () => {
    for (const [method, url, allow] of [
      ["GET", "/v1/tenants/t1/data/write", "POST"],
      ["POST", "/v1/tenants/t1/schemas/partial-write", "PATCH"],
      ["PUT", "/v1/tenants/t1", "DELETE"],
      ["PUT", "/v1/tenants/list", "GET, POST"],
      ["PUT", "/v1/tenants/create", "POST"],
      // A tenant may be called so, too.
      ["PUT", "/v1/tenants/lists", "DELETE"],
      ["QUERY", "/v1/tenants/list", "GET, POST"],
      ["QUERY", "/healthz", "GET, HEAD"],
      ["PROPFIND", "/openapi.json", "GET, HEAD"],
      ["POST", "/healthz", "GET, HEAD"],
      ["GET", "/v1/tenants/a%20b/permissions/check?x=1", "POST"],
    ] as const) {
      for (const body of [undefined, "{"]) {
        const { status, headers, message } = await app.send(method, url, body);
        assert.equal(status, 405, url);
        assert.equal(headers["allow"], allow);
        assert.match(message, /^ERROR_CODE_METHOD_NOT_ALLOWED: /);
      }
    }
  });

  test("a method that no route knows gives 404 where there is no path", async () => {
    for (const [method, url] of [
      ["QUERY", "/nowhere"],
      ["OPTIONS", "*"],
    ] as const) {
      const { status, headers } = await app.send(method, url, "{");
      assert.equal(status, 404);
      assert.equal(headers["allow"], undefined);
    }
  });

  test("every path of the description allows what is described of it", async () => {
    const { paths } = JSON.parse((await app.app.inject("/openapi.json")).body) as {
      readonly paths: Readonly<Record<string, object>>;
    };
    for (const [described, operations] of Object.entries(paths)) {
      const url = described.replaceAll(/\{.*?\}/g, "t1");
      const { status, headers } = await app.send("TRACE", url);
      assert.equal(status, 405, url);
      const allowed = String(headers["allow"]).split(", ");
      const names = Object.keys(operations).map((name) => name.toUpperCase());
      assert.deepEqual(
        allowed.filter((name) => name !== "HEAD"),
        names.toSorted(),
        url,
      );
      if (allowed.includes("HEAD")) assert.notEqual((await app.send("HEAD", url)).status, 405, url);
    }
  });

  test("the content type of a request does not matter", async () => {
    for (const type of ["text/plain", "application/xml; charset=utf-8", "garbage", ";;", ""]) {
      const { status } = await app.send("POST", `${path}/schemas/list`, "{}", type);
      assert.equal(status, 200, type);
    }
  });

  test("an empty body is an empty object", async () => {
    for (const body of [undefined, "", " \n", "null"]) {
      assert.equal((await app.send("POST", `${path}/schemas/list`, body)).status, 200);
      const { message } = await app.send("POST", `${path}/data/write`, body);
      assert.match(message, /metadata: is missing/);
    }
  });

  test("unknown keys and nulls are as if they were absent", async () => {
    const { status, message } = await app.post(`${path}/permissions/check`, {
      metadata: { depth: null, snap_token: null, schema_version: null, more: {} },
      entity: { type: "doc", id: "1", name: "x" },
      permission: "view",
      subject: { type: "user", id: "1", relation: null },
      context: null,
      arguments: null,
      tenant_id: "another",
      constructor: 1,
    });
    assert.equal(status, 200, message);
  });

  test("a body over 4 MiB gives 413, one just below is read", async () => {
    const limit = 4 * 1024 * 1024;
    const over = await app.send("POST", `${path}/schemas/list`, " ".repeat(limit + 1));
    assert.equal(over.status, 413);
    assert.match(over.message, /^ERROR_CODE_PAYLOAD_TOO_LARGE: /);
    assert.match(JSON.stringify(over.body), /^{"code":8,/);
    const below = await app.send("POST", `${path}/schemas/list`, " ".repeat(limit));
    assert.equal(below.status, 200);
  });

  test("JSON nested as deep as a body can be is answered, not crashed on", async () => {
    for (const [depth, status] of [
      [40_000, 400],
      [1_000_000, 413],
    ] as const) {
      for (const body of [nested(depth), `{"metadata":${nested(depth)}}`]) {
        assert.equal((await app.send("POST", `${path}/permissions/check`, body)).status, status);
      }
    }
    const deep = await app.send(
      "POST",
      `${path}/permissions/check`,
      checkOf(`{"a":${nested(40_000)}}`),
    );
    assert.equal(deep.status, 400);
    assert.match(deep.message, /context\.data: is nested deeper than 64 levels/);
    const fine = await app.send(
      "POST",
      `${path}/permissions/check`,
      checkOf(`{"a":${nested(60)}}`),
    );
    assert.equal(fine.status, 200, fine.message);
  });

  test("every answer is JSON and carries the id that the log has for its request", async () => {
    for (const url of ["/healthz", "/nowhere"]) {
      const { headers } = await app.send("GET", url);
      assert.match(String(headers["content-type"]), /^application\/json/);
      assert.match(String(headers["x-request-id"]), /^[0-9a-f-]{36}$/);
    }
  });

  test("a fault of the server gives 500 without its cause, which is logged with the request", async () => {
    const lines: string[] = [];
    const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
    const broken = {
      ...store,
      ping: async () => await store.ping(),
      tenants: {
        ...store.tenants,
        list: async () => await Promise.reject(new Error("table secret_table is broken")),
      },
    };
    const server = buildHttpServer({
      service: { store: broken, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 },
      admission: admitAll,
      logger: pino({}, { write: (line) => void lines.push(line) }),
    });
    const response = await server.inject({ method: "POST", url: "/v1/tenants/list" });
    assert.equal(response.statusCode, 500);
    assert.doesNotMatch(response.body, /secret_table/);
    assert.match(response.body, /^{"code":13,"message":"ERROR_CODE_INTERNAL: /);
    const logged = lines.find((line) => line.includes("secret_table")) ?? "";
    assert.match(logged, new RegExp(String(response.headers["x-request-id"])));
    await server.close();
    await store.close();
  });
});

test("a connection that was opened in advance does not hold up the end of the server", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  const server = buildHttpServer({
    service,
    admission: admitAll,
    logger: pino({ level: "silent" }),
  });
  const { port } = new URL(await server.listen({ host: "127.0.0.1", port: 0 }));
  const accepted = once(server.server, "connection");
  const socket = connect(Number(port), "127.0.0.1");
  const received = text(socket);
  await accepted;
  await server.close();
  // The server waits for its first request, and ends it with 408.
  assert.equal(await received, "");
  await store.close();
});

describe("health over REST", () => {
  test("healthz tells whether the process serves", async () => {
    const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
    const health = createHealth(store);
    const server = buildHttpServer({
      service: { store, health, maxDataPerWrite: 1, bulkLimit: 1 },
      admission: admitAll,
      logger: pino({ level: "silent" }),
    });
    const serving = await server.inject({ url: "/healthz" });
    assert.deepEqual([serving.statusCode, serving.body], [200, '{"status":"SERVING"}']);
    health.drain();
    const draining = await server.inject({ url: "/healthz" });
    assert.deepEqual([draining.statusCode, draining.body], [503, '{"status":"NOT_SERVING"}']);
    await server.close();
    await store.close();
  });

  test("healthz names the clusters, and which of them answer", async () => {
    const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
    const clusters = fakeClusters("east", "west");
    clusters[1].answers = false;
    const health = createHealth({ ping: async () => {}, clusters });
    const server = buildHttpServer({
      service: { store, health, maxDataPerWrite: 1, bulkLimit: 1 },
      admission: admitAll,
      logger: pino({ level: "silent" }),
    });
    const { statusCode, body } = await server.inject({ url: "/healthz" });
    const states = '{"status":"SERVING","clusters":{"east":"SERVING","west":"NOT_SERVING"}}';
    assert.deepEqual([statusCode, body], [200, states]);
    await server.close();
    await store.close();
  });
});
