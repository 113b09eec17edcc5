import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { gunzipSync } from "node:zlib";

import { Profile } from "pprof-format";

import { openProfiler } from "../../src/telemetry/profiler.ts";

interface Opened {
  readonly url: string;
  /** Resolves when a profile begins. */
  readonly begun: Promise<void>;
}

async function open(t: TestContext): Promise<Opened> {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const profiler = await openProfiler({
    host: "127.0.0.1",
    port: 0,
    commandLine: ["pemba", "serve"],
    onProfile: () => resolve(),
  });
  t.after(async () => await profiler.close());
  return { url: `http://127.0.0.1:${profiler.address.port}/debug/pprof/`, begun };
}

/** Called by the engine, which would inline it into a caller of ours and name only that. */
function busyComparisonOfTheTest(one: number, other: number): number {
  return Math.sqrt(one) - Math.sqrt(other);
}

function sortMany(): void {
  Array.from({ length: 100_000 }, (_, index) => (index * 7_919) % 100_003).sort(
    busyComparisonOfTheTest,
  );
}

const kept: object[] = [];
function hoardingFunctionOfTheTest(): void {
  for (let index = 0; index < 10_000; index++) kept.push({ index, text: `text ${index}` });
}

/** Works until the answer is there. */
async function profileWhile(url: string, work: () => void): Promise<Profile> {
  const answer = fetch(url);
  let isThere = false;
  void answer.finally(() => (isThere = true));
  while (!isThere) {
    work();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const response = await answer;
  assert.equal(response.status, 200);
  return Profile.decode(gunzipSync(await response.bytes()));
}

/** For each unit, the sum of the samples that have the function on their stack. */
function totalsOf(profile: Profile, functionName: string): ReadonlyMap<string, number> {
  const { strings } = profile.stringTable;
  const names = new Map(profile.function.map(({ id, name }) => [id, strings[Number(name)]]));
  const named = new Set(
    profile.location
      .filter(({ line }) => line.some((one) => names.get(one.functionId) === functionName))
      .map(({ id }) => id),
  );
  const samples = profile.sample.filter(({ locationId }) => locationId.some((id) => named.has(id)));
  return new Map(
    profile.sampleType.map(({ type, unit }, index) => [
      `${strings[Number(type)]} ${strings[Number(unit)]}`,
      samples.reduce((sum, { value }) => sum + Number(value[index]), 0),
    ]),
  );
}

test("a profile of the processor shows the function that was busy", async (t) => {
  const { url } = await open(t);
  const profile = await profileWhile(`${url}profile?seconds=0.5`, sortMany);
  const totals = totalsOf(profile, "busyComparisonOfTheTest");
  assert.deepEqual([...totals.keys()], ["samples count", "cpu nanoseconds"]);
  assert.ok((totals.get("samples count") ?? 0) > 0);
  const cpu = totals.get("cpu nanoseconds") ?? 0;
  assert.ok(cpu > 0 && cpu <= Number(profile.durationNanos));
  assert.equal(totalsOf(profile, "(idle)").get("samples count"), 0);
});

test("profiles of memory show the function that allocated", async (t) => {
  const { url } = await open(t);
  for (const [kind, unit] of [
    ["heap", "inuse_space bytes"],
    ["allocs", "alloc_space bytes"],
  ]) {
    const work = (): void => {
      if (kept.length < 500_000) hoardingFunctionOfTheTest();
    };
    kept.length = 0;
    const profile = await profileWhile(`${url}${kind}?seconds=0.5`, work);
    assert.ok((totalsOf(profile, "hoardingFunctionOfTheTest").get(unit ?? "") ?? 0) > 100_000);
  }
});

test("one profile is taken at a time, and one whose client is gone ends", async (t) => {
  const { url, begun } = await open(t);
  const first = get(`${url}profile?seconds=300`, { agent: false });
  first.on("error", () => {});
  await begun;
  const second = await fetch(`${url}allocs?seconds=1`);
  assert.equal(second.status, 409);
  assert.equal(await second.text(), "another profile is being taken\n");
  first.destroy();
  let status = 409;
  while (status === 409) {
    const next = await fetch(`${url}heap?seconds=0.01`);
    await next.bytes();
    status = next.status;
  }
  assert.equal(status, 200);
});

test("what cannot be answered says why", async (t) => {
  const { url } = await open(t);
  for (const seconds of ["0", "-1", "301", "soon", ""]) {
    const { status } = await fetch(`${url}profile?seconds=${seconds}`);
    assert.equal(status, 400, seconds);
  }
  assert.equal((await fetch(`${url}nothing`)).status, 404);
  assert.equal((await fetch(new URL("/", url))).status, 404);
  assert.equal((await fetch(url, { method: "POST" })).status, 405);
  assert.match(await (await fetch(url)).text(), /profile\?seconds=30/);
  assert.equal(await (await fetch(`${url}cmdline`)).text(), "pemba\0serve");
});

test("a name that is not its own, as that of a page of a browser, is refused", async (t) => {
  const { url } = await open(t);
  const statusFor = async (host: string): Promise<number | undefined> => {
    const request = get(`${url}cmdline`, { agent: false, headers: { host } });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  for (const host of ["127.0.0.1:6060", "localhost:6060", "[::1]:6060", "10.0.0.1"]) {
    assert.equal(await statusFor(host), 200, host);
  }
  for (const host of ["attacker.example", "localhost.attacker.example:6060", "a b"]) {
    assert.equal(await statusFor(host), 403, host);
  }
});
