import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { createMigratedDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { servePemba } from "../support/pemba.ts";

/* It takes ten seconds and more to see that a server is silent. */

test("when the connection to Postgres drops all data, waiting requests fail, and another connection is made", async (t) => {
  const database = await createMigratedDatabase();
  t.after(database.drop);
  const line = await openLine(t, database.url);
  const words = ["--service-circuit-breaker"];
  const env = { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: line.url };
  const { url, process: server, finished } = await servePemba(t, words, { env });
  const list = async (): Promise<{ readonly status: number; readonly text: string }> => {
    const response = await fetch(`${url}/v1/tenants/list`, { method: "POST", body: "{}" });
    return { status: response.status, text: await response.text() };
  };
  assert.equal((await list()).status, 200);
  line.silence("present");
  // One alone: a second one might have a new connection made, which is not silent.
  const waiting = await list();
  assert.equal(waiting.status, 503, waiting.text);
  // Connections that are made anew are not silent.
  while ((await list()).status !== 200) await wait(20);
  line.silence("all");
  server.kill("SIGTERM");
  const { status: code, stdout } = await finished;
  assert.equal(code, 0);
  assert.equal(stdout.match(/WARN: the circuit is open/g)?.length, 1, stdout);
  assert.equal(
    stdout.match(/WARN: connections are closed: the database answers neither/g)?.length,
    1,
  );
});
