import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";

import { pino } from "pino";

import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";
import { endlessChanges, serviceOf, silentChanges } from "../support/endless-changes.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { openStream } from "../support/text-stream.ts";

const schema = `
  entity user {}
  entity doc {
    relation viewer @user
    attribute level integer
  }
`;

const ada = { type: "user", id: "ada", relation: "" };

function viewer(id: string): object {
  return { entity: { type: "doc", id }, relation: "viewer", subject: ada };
}

function level(data: number): object {
  return {
    entity: { type: "doc", id: "1" },
    attribute: "level",
    value: { "@type": "type.googleapis.com/base.v1.IntegerValue", data },
  };
}

/** The service on a port of its own. */
async function listen(t: TestContext, service: Service): Promise<string> {
  const app = buildHttpServer({ service, admission: admitAll, logger: pino({ level: "silent" }) });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return await app.listen({ port: 0, host: "127.0.0.1" });
}

const resumable = /^\{"error":\{"code":14,.*resume/;

function tokenOf(message: unknown): string {
  const token: unknown =
    typeof message === "object" && message !== null
      ? Reflect.get(message, "snap_token")
      : undefined;
  return typeof token === "string" ? token : assert.fail(`no token in ${JSON.stringify(message)}`);
}

for (const engine of engines) {
  describe(`watch over REST on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => {
      app = await engine.start();
    });
    after(async () => {
      await app.close();
    });

    async function write(path: string, data: object): Promise<string> {
      const written = await app.post(`${path}/data/write`, { metadata: {}, ...data });
      assert.equal(written.status, 200, written.message);
      return written.text("snap_token");
    }

    test("each transaction is a line of JSON", async (t) => {
      const url = await listen(t, app.service);
      const path = await app.tenant(schema);
      await write(path, { attributes: [level(1)] });
      const stream = await openStream(`${url}${path}/watch`);
      assert.equal(stream.status, 200);
      assert.equal(stream.type, "application/x-ndjson");
      await write(path, { tuples: [viewer("1")] });
      await write(path, { attributes: [level(2)] });
      await app.post(`${path}/relationships/delete`, { filter: { entity: { type: "doc" } } });
      const messages = [await stream.json(), await stream.json(), await stream.json()];
      const changes = [
        [{ operation: "OPERATION_CREATE", tuple: viewer("1") }],
        [
          { operation: "OPERATION_DELETE", attribute: level(1) },
          { operation: "OPERATION_CREATE", attribute: level(2) },
        ],
        [{ operation: "OPERATION_DELETE", tuple: viewer("1") }],
      ];
      assert.deepEqual(
        messages,
        messages.map((message, index) => ({
          snap_token: tokenOf(message),
          data_changes: { changes: changes[index] },
        })),
      );
      stream.leave();
    });

    test("a token resumes in the query, in the body of a GET and of a POST", async (t) => {
      const url = await listen(t, app.service);
      const path = await app.tenant(schema);
      const token = await write(path, { tuples: [viewer("1")] });
      await write(path, { tuples: [viewer("2")] });
      const streams = [
        await openStream(`${url}${path}/watch?snap_token=${token}`),
        await openStream(`${url}${path}/watch`, { body: { snap_token: token } }),
        await openStream(`${url}${path}/watch`, { method: "POST", body: { snap_token: token } }),
      ];
      for (const stream of streams) {
        const message = await stream.json();
        const changes = [{ operation: "OPERATION_CREATE", tuple: viewer("2") }];
        assert.deepEqual(message, { snap_token: tokenOf(message), data_changes: { changes } });
        stream.leave();
      }
    });

    test("as server-sent events the id is the token, and the last one resumes", async (t) => {
      const url = await listen(t, app.service);
      const path = await app.tenant(schema);
      const token = await write(path, { tuples: [viewer("1")] });
      const headers = { accept: "text/event-stream" };
      const separator = "\n\n";
      const place = `${url}${path}/watch?snap_token=${token}`;
      await write(path, { tuples: [viewer("2")] });
      await write(path, { tuples: [viewer("3")] });
      const stream = await openStream(place, { headers, separator });
      assert.equal(stream.type, "text/event-stream");
      assert.equal(await stream.next(), `id: ${token}`);
      const [id, data] = (await stream.next())?.split("\n") ?? [];
      stream.leave();
      assert.ok(id !== undefined && data !== undefined);
      const message: unknown = JSON.parse(data.replace(/^data: /, ""));
      assert.equal(id, `id: ${tokenOf(message)}`);

      // The client still names the token that it began with.
      const last = id.replace("id: ", "");
      const again = await openStream(place, {
        headers: { ...headers, "last-event-id": last },
        separator,
      });
      assert.equal(await again.next(), `id: ${last}`);
      assert.match((await again.next()) ?? "", /"id":"3"/);
      again.leave();
    });

    test("what is wrong before the first line is an answer like any other", async (t) => {
      const url = await listen(t, app.service);
      const path = await app.tenant(schema);
      const unknown = await openStream(`${url}/v1/tenants/missing/watch`);
      assert.equal(unknown.status, 404);
      assert.equal(unknown.type, "application/json; charset=utf-8");
      const answer = await app.send("GET", `${path}/watch?snap_token=x`);
      assert.equal(answer.status, 400);
      assert.match(answer.message, /^ERROR_CODE_INVALID_SNAP_TOKEN: snap_token: is malformed/);
      const long = await app.send("GET", `/v1/tenants/${"a".repeat(129)}/watch`);
      assert.equal(long.status, 400);
      const list = await app.send("POST", `${path}/watch`, { snap_token: [] });
      assert.equal(list.status, 400);
      assert.match(list.message, /snap_token/);
    });

    test("what goes wrong later is the last line", async (t) => {
      const url = await listen(t, app.service);
      const path = await app.tenant(schema);
      const stream = await openStream(`${url}${path}/watch`);
      await write(path, { tuples: [viewer("1")] });
      await stream.json();
      await app.send("DELETE", path);
      const last = await stream.json();
      const tenant = path.replace("/v1/tenants/", "");
      const message = `ERROR_CODE_TENANT_NOT_FOUND: no tenant \`${tenant}\``;
      assert.deepEqual(last, { error: { code: 5, message, details: [] } });
      assert.equal(await stream.next(), undefined);
    });

    test("when the server stops, a stream ends with a token to resume with", async (t) => {
      const service = { ...app.service, health: createHealth(app.store) };
      const url = await listen(t, service);
      const path = await app.tenant(schema);
      const [one, other] = [
        await openStream(`${url}${path}/watch`),
        await openStream(`${url}${path}/watch`),
      ];
      await write(path, { tuples: [viewer("1")] });
      const first = await one.json();
      assert.deepEqual(Reflect.get(Object(await other.json()), "snap_token"), tokenOf(first));
      const fresh = await openStream(`${url}${path}/watch`);
      service.health.drain();
      const start = await fresh.json();
      assert.deepEqual(start, { snap_token: tokenOf(start), data_changes: { changes: [] } });
      const tokens = [tokenOf(start)];
      assert.match((await fresh.next()) ?? "", resumable);
      for (const stream of [one, other]) {
        const line = (await stream.next()) ?? "";
        const message: unknown = JSON.parse(line);
        // It may have come to a later state since the token that it has given.
        const isLater = !resumable.test(line);
        tokens.push(isLater ? tokenOf(message) : tokenOf(first));
        if (!isLater) continue;
        assert.deepEqual(Reflect.get(Object(message), "data_changes"), { changes: [] });
        assert.match((await stream.next()) ?? "", resumable);
      }
      for (const stream of [one, other, fresh]) assert.equal(await stream.next(), undefined);
      await write(path, { tuples: [viewer("2")] });
      const after = await listen(t, app.service);
      for (const token of tokens) {
        const resumed = await openStream(`${after}${path}/watch?snap_token=${token}`);
        assert.match(JSON.stringify(await resumed.json()), /"id":"2"/);
        resumed.leave();
      }
    });
  });
}

test("watch that is not enabled says which key enables it", async (t) => {
  const { changes } = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const url = await listen(t, serviceOf(changes));
  const stream = await openStream(`${url}/v1/tenants/t1/watch`);
  assert.equal(stream.status, 501);
  assert.match(JSON.stringify(await stream.whole()), /NOT_IMPLEMENTED.*service\.watch\.enabled/);
});

test("a client that reads slowly is not read ahead for", async (t) => {
  const { changes, taken, left } = endlessChanges();
  const url = await listen(t, serviceOf(changes));
  const stream = await openStream(`${url}/v1/tenants/t1/watch`);
  for (let read = 1; read <= 100; read++) {
    await stream.json();
    // The buffers of sockets on the route hold some mebibytes.
    assert.ok(taken() - read < 40, `${taken()} messages were taken for ${read} that were read`);
  }
  stream.leave();
  await left;
});

test("a stream ends with its client, also while nothing changes", async (t) => {
  for (const accept of ["*/*", "text/event-stream"]) {
    const { changes, left } = silentChanges();
    const url = await listen(t, serviceOf(changes));
    const stream = await openStream(`${url}/v1/tenants/t1/watch`, { headers: { accept } });
    stream.leave();
    await left;
  }
});
