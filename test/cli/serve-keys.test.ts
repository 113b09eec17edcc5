import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";

import { startPemba } from "../../src/testing/start-pemba.ts";
import { connect, until } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import { buildConsole } from "../support/console-build.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { servePemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

/* What the keys do that a whole server needs to show. */

const schema = "entity user {} entity doc { relation owner @user permission view = owner }";
const item = {
  entity: { type: "doc", id: "1" },
  permission: "view",
  subject: { type: "user", id: "1" },
};

interface Asked {
  readonly status: number;
  readonly text: string;
}

async function post(url: string, path: string, body: object): Promise<Asked> {
  const answer = await fetch(`${url}/v1/tenants/t1/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

function tuples(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    entity: { type: "doc", id: String(index) },
    relation: "owner",
    subject: item.subject,
  }));
}

test("`server.http.console` says whether the console is served", async (t) => {
  await buildConsole();
  for (const [isServed, status] of [
    [true, 200],
    [false, 404],
  ] as const) {
    const server = await startPemba({ config: { "server.http.console": isServed } });
    t.after(async () => await server.stop());
    assert.equal((await fetch(`${server.getRestUrl()}/console`)).status, status);
  }
});

test("a request may hold as much as the configuration says, and no more", async (t) => {
  const { url } = await serveHere(t, [
    "--service-permission-bulk-limit=2",
    "--database-max-data-per-write=3",
  ]);
  assert.equal((await post(url, "schemas/write", { schema })).status, 200);
  const check = async (count: number): Promise<Asked> =>
    await post(url, "permissions/bulk-check", { metadata: {}, items: Array(count).fill(item) });
  assert.equal((await check(2)).status, 200);
  const many = await check(3);
  assert.equal(many.status, 400);
  assert.match(many.text, /items/);
  const write = async (count: number): Promise<Asked> =>
    await post(url, "data/write", { metadata: {}, tuples: tuples(count) });
  assert.equal((await write(3)).status, 200);
  assert.equal((await write(4)).status, 400);
});

test("`service.permission.concurrency_limit` questions are worked on, ten times as many wait", async (t) => {
  const database = await createMigratedDatabase();
  t.after(database.drop);
  const { url } = await serveHere(t, [
    "--database-engine=postgres",
    `--database-uri=${database.url}`,
    "--service-permission-concurrency-limit=2",
  ]);
  assert.equal((await post(url, "schemas/write", { schema })).status, 200);
  const sql = connect(database.url);
  t.after(async () => await sql.end({ timeout: 1 }));
  const statuses: number[] = [];
  const { asked } = await sql.begin(async (lock) => {
    await lock`lock table relationships in access exclusive mode`;
    const asked = Array.from({ length: 2 + 20 + 3 }, async (_, index) => {
      const entity = { type: "doc", id: String(index) };
      const { status } = await post(url, "permissions/check", { metadata: {}, ...item, entity });
      statuses.push(status);
    });
    await until(async () => (statuses.length >= 3 ? true : undefined));
    return { asked };
  });
  await Promise.all(asked);
  assert.deepEqual(statuses.slice(0, 3), [429, 429, 429]);
  assert.deepEqual(statuses.slice(3), Array(22).fill(200));
});

test("pages of the sites that are named may ask, with the headers that are named", async (t) => {
  const { url } = await serveHere(t, [
    "--http-cors-allowed-origins=https://a.example",
    "--http-cors-allowed-headers=authorization,x-request-id",
    // It has no effect, and nothing is there.
    "--http-grpc-target-host=nowhere.invalid",
  ]);
  const preflight = async (origin: string): Promise<Readonly<Record<string, unknown>>> =>
    await new Promise((resolve, reject) => {
      // `fetch` does not allow setting `origin`.
      const asking = request(`${url}/v1/tenants/list`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
      asking.on("response", (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode, ...answer.headers });
      });
      asking.on("error", reject);
      asking.end();
    });
  const allowed = await preflight("https://a.example");
  assert.equal(allowed["status"], 204);
  assert.equal(allowed["access-control-allow-origin"], "https://a.example");
  assert.equal(allowed["access-control-allow-headers"], "authorization, x-request-id");
  const refused = await preflight("https://b.example");
  assert.equal(refused["access-control-allow-origin"], undefined);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
});

test("both listen on `server.host` alone, a deprecated key works, and the log says what to use", async (t) => {
  const words = ["--server-host=127.0.0.1", "--database-max-open-connections=3"];
  const { url, grpc, process: server, finished } = await servePemba(t, words);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.match(grpc, /^127\.0\.0\.1:\d+$/);
  server.kill("SIGTERM");
  const { status, stdout } = await finished;
  assert.equal(status, 0);
  assert.match(stdout, /WARN.*`database\.max_open_connections` is deprecated/);
});

test("REST speaks the JSON of protobuf where the key says so, and the documented one where a request does", async (t) => {
  const { url } = await serveHere(t, ["--http-json", "protobuf"]);
  const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
  const write = async (path: string, body: object): Promise<Response> =>
    await fetch(`${url}/v1/tenants/t1/${path}`, { method: "POST", body: JSON.stringify(body) });
  assert.equal((await write("schemas/write", { schema })).status, 200);
  const read = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const body = JSON.stringify({ metadata: {} });
    const answer = await fetch(`${url}/v1/tenants/t1/schemas/read`, {
      method: "POST",
      headers,
      body,
    });
    return await answer.text();
  };
  assert.match(await read({}), /^\{"schema":\{"entityDefinitions":\{"user":\{"name":"user",/);
  const documented = /^\{"schema":\{"entity_definitions":\{"user":\{\},/;
  assert.match(await read({ "pemba-json": "documented" }), documented);
  // The commands speak the documented form, also of a server that speaks the other by default.
  const { stdout } = await runCommand(["can", "doc:1", "user:ada", "--url", url]);
  assert.equal(stdout, "view    denied\nviewer  denied\n");
});
