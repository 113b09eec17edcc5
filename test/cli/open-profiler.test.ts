import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";

import { pino } from "pino";

import { openConfiguredProfiler } from "../../src/cli/open-profiler.ts";
import { configOf } from "../support/given-config.ts";

interface Opened {
  /** Where it listens, if it does. */
  readonly address: { readonly address: string; readonly port: number } | undefined;
  readonly log: string;
}

async function open(t: TestContext, ...args: readonly string[]): Promise<Opened> {
  let log = "";
  const logger = pino({ level: "debug" }, { write: (line: string) => void (log += line) });
  const profiler = await openConfiguredProfiler(configOf({ args }), logger);
  t.after(async () => await profiler?.close());
  return { address: profiler?.address, log };
}

async function portOf(t: TestContext): Promise<number> {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const address = other.address();
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

test("without `profiler.enabled` there is none", async (t) => {
  const { address, log } = await open(t, "--profiler-enabled=false", "--profiler-port=0");
  assert.deepEqual([address, log], [undefined, ""]);
});

test("it listens on this machine alone, unless `profiler.host` says otherwise", async (t) => {
  const near = await open(t, "--profiler-port=0");
  assert.equal(near.address?.address, "127.0.0.1");
  assert.doesNotMatch(near.log, /without a token/);
  const answer = await fetch(`http://127.0.0.1:${near.address?.port}/debug/pprof/cmdline`);
  assert.equal(answer.status, 200);
  const far = await open(t, "--profiler-port=0", "--profiler-host=0.0.0.0");
  assert.equal(far.address?.address, "0.0.0.0");
  assert.match(
    far.log,
    /`profiler\.host`: every client that reaches .* can take profiles without a token/,
  );
});

test("a taken `profiler.port` is a line of the log, and there is none", async (t) => {
  const port = await portOf(t);
  const { address, log } = await open(t, `--profiler-port=${port}`);
  assert.equal(address, undefined);
  assert.match(
    log,
    new RegExp(`\`profiler\\.port\`: the profiler is not started, .*127\\.0\\.0\\.1:${port}`),
  );
});
