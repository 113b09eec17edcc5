import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { status } from "@grpc/grpc-js";

import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { connectGrpc, failure } from "../support/grpc.ts";
import { startRestartablePostgres } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";
import { serveHere } from "../support/serve-here.ts";

const refusal = /ERROR_CODE_CIRCUIT_BREAKER: the database does not answer/;

const question = {
  metadata: {},
  entity: { type: "document", id: "plan" },
  permission: "owner",
  subject: { type: "user", id: "ada" },
};

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

async function ask(url: string, body?: object): Promise<Answer> {
  const response = await fetch(url, body && { method: "POST", body: JSON.stringify(body) });
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, retryAfter, text: await response.text() };
}

/** Listens where the database was; tells how many connections have come. */
async function standIn(
  t: TestContext,
  url: string,
): Promise<{ readonly connections: () => number; readonly leave: () => Promise<void> }> {
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.destroy();
  });
  server.listen(Number(new URL(url).port), "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return {
    connections: () => count,
    leave: async () => {
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

test("with the circuit breaker requests fail at once while Postgres is away, and it heals by itself", async (t) => {
  // It is ended at once: the schema must be on disk by then.
  const database = await startRestartablePostgres([...serverSettings, "synchronous_commit=on"]);
  t.after(database.stop);
  const words = ["--service-circuit-breaker", "--database-max-retries", "0"];
  const env = { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: database.url };
  const { url, grpc, stop, finished } = await serveHere(t, words, env);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const tenant = `${url}/v1/tenants/t1`;
  const check = async (): Promise<Answer> => await ask(`${tenant}/permissions/check`, question);
  const checkOverGrpc = async (): Promise<{ readonly can: CheckResult }> =>
    await client.call(Permission.method.check, { ...question, tenantId: "t1" });
  const schema = "entity user {} entity document { relation owner @user }";
  assert.equal((await ask(`${tenant}/schemas/write`, { schema })).status, 200);

  // What is wrong never counts.
  for (let nth = 0; nth < 10; nth++) {
    const wrong = { ...question, metadata: { schema_version: "00000000000000000000" } };
    assert.equal((await ask(`${tenant}/permissions/check`, wrong)).status, 404);
    await failure(client.call(Permission.method.check, { ...question, tenantId: "missing" }));
  }
  assert.equal((await check()).status, 200);

  await database.halt();
  const place = await standIn(t, database.url);
  let answer = await check();
  while (!refusal.test(answer.text)) {
    assert.equal(answer.status, 503, answer.text);
    assert.equal((await failure(checkOverGrpc())).code, status.UNAVAILABLE);
    answer = await check();
  }
  assert.deepEqual([answer.status, answer.retryAfter], [503, "1"]);

  const [before, start] = [place.connections(), performance.now()];
  for (let nth = 0; nth < 100; nth++) {
    assert.match((await check()).text, refusal);
    const { code, details } = await failure(checkOverGrpc());
    assert.equal(code, status.UNAVAILABLE);
    assert.match(details, refusal);
  }
  const seconds = (performance.now() - start) / 1_000;
  const came = place.connections() - before;
  assert.ok(came <= 2 * (seconds + 1), `${came} connections in ${seconds} s for 200 requests`);

  assert.equal((await ask(`${url}/healthz`)).status, 503);
  assert.equal((await ask(`${url}/livez`)).status, 200);

  await place.leave();
  await database.restart();
  while ((await check()).status !== 200) await wait(20);
  assert.equal((await checkOverGrpc()).can, CheckResult.DENIED);
  assert.equal((await ask(`${url}/healthz`)).status, 200);

  stop();
  const log = await finished;
  assert.equal(log.match(/WARN: the circuit is open/g)?.length, 1, log);
  assert.equal(log.match(/WARN: the circuit is closed/g)?.length, 1);
  // What is refused while it is open says nothing new.
  assert.doesNotMatch(log, /request failed: the database does not answer, and is not asked/);
});
