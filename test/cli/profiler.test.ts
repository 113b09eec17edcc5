import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { Profile } from "pprof-format";

import { freePort } from "../support/free-ports.ts";
import { servePemba } from "../support/pemba.ts";

test("profiles of the running server can be taken, and the signal ends one that is", async (t) => {
  const port = String(await freePort());
  const secret = ["--authn-preshared-keys", "hunter2", "--database-uri=postgres://a:hunter3@b/c"];
  const { process: server, finished } = await servePemba(t, ["--profiler-port", port, ...secret]);
  const url = `http://127.0.0.1:${port}/debug/pprof/`;

  const answer = await fetch(`${url}profile?seconds=0.5`);
  assert.equal(answer.status, 200);
  const { sampleType, durationNanos } = Profile.decode(gunzipSync(await answer.bytes()));
  assert.equal(sampleType.length, 2);
  assert.ok(Number(durationNanos) > 1e8);

  const words = (await (await fetch(`${url}cmdline`)).text()).split("\0");
  assert.deepEqual(words.slice(-3), ["--authn-preshared-keys", "***", "--database-uri=***"]);

  const cut = fetch(`${url}profile?seconds=300`).then(
    () => assert.fail("it was not cut"),
    () => undefined,
  );
  let status = 200;
  while (status !== 409) status = (await fetch(`${url}heap?seconds=0.01`)).status;
  server.kill("SIGTERM");
  await cut;
  assert.equal((await finished).status, 0);
});
