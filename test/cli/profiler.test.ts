import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { Profile } from "pprof-format";

import { servePemba, startServing } from "../support/pemba.ts";

/* The keys of the profiler: `profiler.enabled`, `profiler.host` and `profiler.port`. */

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

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

test("a port that is taken is a warning, and the server serves", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const address = other.address();
  assert.ok(typeof address === "object" && address !== null);
  const words = ["--profiler-port", String(address.port)];
  const { url, process: server, finished } = await servePemba(t, words);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  server.kill("SIGTERM");
  const { status, stdout } = await finished;
  assert.equal(status, 0);
  assert.match(
    stdout,
    /WARN: `profiler\.port`: there is no profiler, cannot listen on 127\.0\.0\.1:/,
  );
});

test("where others can reach it, it is warned of; switched off, there is none", async (t) => {
  for (const [words, warns, listens] of [
    [["--profiler-host", ""], true, true],
    [["--profiler-host", "0.0.0.0"], true, true],
    [["--profiler-host", "localhost"], false, true],
    [["--profiler-enabled=false"], false, false],
  ] as const) {
    const serving = startServing(words);
    t.after(() => serving.process.kill("SIGKILL"));
    await serving.addresses;
    serving.process.kill("SIGTERM");
    const { stdout } = await serving.finished;
    assert.equal(/WARN: `profiler\.host`: whoever reaches/.test(stdout), warns, words.join(" "));
    assert.equal(/profiler listens on/.test(stdout), listens, words.join(" "));
  }
});
