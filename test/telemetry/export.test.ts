import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";

import { type Collector, startCollector } from "../support/collector.ts";
import { type Addresses, servePemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

/** The flags that send one signal to a collector. */
function sentTo(flag: "tracer" | "meter" | "log", endpoint: string, protocol: string): string[] {
  return [
    `--${flag}-enabled`,
    `--${flag}-endpoint=${endpoint}`,
    `--${flag}-insecure`,
    `--${flag}-protocol=${protocol}`,
    `--${flag}-service-name=${flag}-of-a-test`,
    `--${flag}-headers=x-given:a:b`,
  ];
}

function allSentTo(collector: Collector, protocol: "http" | "grpc"): string[] {
  return (["tracer", "meter", "log"] as const).flatMap((flag) =>
    sentTo(flag, collector[protocol], protocol),
  );
}

async function ask({ url }: Addresses): Promise<void> {
  const response = await fetch(`${url}/v1/tenants/list`, { method: "POST", body: "{}" });
  assert.equal(response.status, 200);
}

for (const protocol of ["http", "grpc"] as const) {
  test(`traces, metrics and log lines are sent over ${protocol}`, async (t) => {
    const collector = await startCollector(t);
    const words = [...allSentTo(collector, protocol), "--meter-interval=1"];
    const pemba = await serveHere(t, words);
    await ask(pemba);
    const point = await collector.until(() =>
      collector.points.find(({ name }) => name === "pemba.request.duration"),
    );
    assert.equal(point.service, "meter-of-a-test");
    assert.equal(point.value, 1);
    assert.deepEqual(point.attributes, { method: "tenants.list", transport: "rest", code: "OK" });
    const line = await collector.until(() =>
      collector.lines.find(({ message }) => message === "ready"),
    );
    assert.equal(line.service, "log-of-a-test");
    assert.equal(line.severity, "INFO");
    // Traces wait for seconds, or for the end.
    pemba.stop();
    await pemba.finished;
    const span = collector.spans.find(({ name }) => name === "tenants.list");
    assert.ok(span !== undefined);
    assert.equal(span.service, "tracer-of-a-test");
    assert.equal(span.isServer, true);
    assert.deepEqual(span.attributes, {
      "pemba.method": "tenants.list",
      "pemba.transport": "rest",
      "pemba.code": "OK",
    });
    assert.deepEqual(
      [...new Set(collector.requests.map(({ headers }) => String(headers["x-given"])))],
      ["a:b"],
    );
  });
}

/** Whether a process has sent one of each before it has ended. */
async function sendsWhatIsLeft(t: TestContext): Promise<boolean> {
  const collector = await startCollector(t);
  const pemba = await servePemba(t, allSentTo(collector, "http"));
  await ask(pemba);
  pemba.process.kill("SIGTERM");
  const { status, stdout } = await pemba.finished;
  assert.equal(status, 0);
  assert.match(stdout, /stopped/);
  const { spans, points, lines } = collector;
  return (
    spans.some(({ name }) => name === "tenants.list") &&
    points.some(({ name }) => name === "pemba.request.duration") &&
    lines.some(({ message }) => message === "stopped")
  );
}

test("what is left is sent before the process ends", async (t) => {
  let isSent = false;
  // It has a second for that, which may not be enough on a busy machine.
  for (let attempt = 0; !isSent && attempt < 5; attempt++) isSent = await sendsWhatIsLeft(t);
  assert.ok(isSent);
});

test("a path of its own is where a signal is sent", async (t) => {
  const collector = await startCollector(t);
  const words = (["tracer", "meter", "log"] as const).flatMap((flag) => [
    `--${flag}-enabled`,
    `--${flag}-endpoint=http://${collector.http}/unused`,
    `--${flag}-urlpath=/own/${flag === "tracer" ? "traces" : flag === "meter" ? "metrics" : "logs"}`,
  ]);
  const pemba = await serveHere(t, words);
  await ask(pemba);
  pemba.stop();
  await pemba.finished;
  assert.deepEqual(
    new Set(collector.requests.map(({ path }) => path)),
    new Set(["/own/traces", "/own/metrics", "/own/logs"]),
  );
});

test("a line that is logged for a request has its trace", async (t) => {
  const collector = await startCollector(t);
  const words = [...allSentTo(collector, "http"), "--log-level=debug", "--log-output=json"];
  const pemba = await serveHere(t, words);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const response = await fetch(`${pemba.url}/v1/tenants/list`, {
    method: "POST",
    body: "{}",
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  });
  await response.text();
  pemba.stop();
  const log = await pemba.finished;
  const line = collector.lines.find(({ message }) => message === "request answered");
  assert.equal(line?.traceId, traceId);
  const written = log.split("\n").find((text) => text.includes("request answered"));
  assert.match(written ?? "", new RegExp(`"trace_id":"${traceId}"`));
});

test("log lines that are not taken are counted", async (t) => {
  const collector = await startCollector(t);
  const refusing = createServer((_request, response) => response.writeHead(400).end());
  refusing.listen(0, "127.0.0.1");
  await once(refusing, "listening");
  t.after(() => refusing.close());
  const address = refusing.address();
  assert.ok(typeof address === "object" && address !== null);
  await serveHere(t, [
    ...sentTo("meter", collector.http, "http"),
    "--meter-interval=1",
    ...sentTo("log", `127.0.0.1:${address.port}`, "http"),
  ]);
  await collector.until(() =>
    collector.points.find(
      ({ name, value, attributes }) =>
        name === "pemba.telemetry.failures" && attributes["signal"] === "logs" && Number(value) > 0,
    ),
  );
});
