import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { createMigratedDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { serveHere } from "../support/serve-here.ts";

async function answerOf(url: string, body?: object): Promise<{ status: number; text: string }> {
  const response = await fetch(url, body && { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

test("while the database is gone requests get 503, and once it is back they are answered", async (t) => {
  const database = await createMigratedDatabase();
  t.after(database.drop);
  const line = await openLine(t, database.url);
  const env = { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: line.url };
  const { url, stop, finished } = await serveHere(t, ["--database-connect-timeout", "2s"], env);
  const list = `${url}/v1/tenants/list`;
  assert.equal((await answerOf(list, {})).status, 200);

  await line.cut();
  const { status, text } = await answerOf(list, {});
  assert.equal(status, 503, text);
  assert.match(text, /^{"code":14,"message":"ERROR_CODE_UNAVAILABLE: /);
  assert.doesNotMatch(text, /127\.0\.0\.1|ECONN/);
  const health = await answerOf(`${url}/healthz`);
  assert.deepEqual([health.status, health.text], [503, '{"status":"NOT_SERVING"}']);

  await line.mend();
  while ((await answerOf(`${url}/healthz`)).status !== 200) await wait(20);
  assert.equal((await answerOf(list, {})).status, 200);

  stop();
  const log = await finished;
  assert.match(log, /WARN.*: request failed: the database does not answer \(.*ECONN/);
  assert.match(log, /WARN.*: health checks of the database fail: .*ECONN/);
  assert.match(log, /INFO.*: health checks of the database succeed again/);
  assert.doesNotMatch(log, /ERROR|^ +at /m);
});
