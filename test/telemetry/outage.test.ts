import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";

import { openTelemetry } from "../../src/telemetry/open.ts";
import { targetOf } from "../../src/telemetry/target.ts";
import { startCollector } from "../support/collector.ts";
import { runCommand } from "../support/commands-process.ts";
import { freePort } from "../support/free-ports.ts";
import { runPemba, servePemba } from "../support/pemba.ts";

test("a collector that is gone costs no request, and a line when it goes and when it is back", async (t) => {
  const port = await freePort();
  // Else an export is tried again for seconds before it counts as failed.
  process.env["OTEL_EXPORTER_OTLP_METRICS_TIMEOUT"] = "500";
  t.after(() => delete process.env["OTEL_EXPORTER_OTLP_METRICS_TIMEOUT"]);
  const warnings: string[] = [];
  const { promise: isTold, resolve: tell } = Promise.withResolvers<void>();
  const say = (message: string): void => {
    warnings.push(message);
    tell();
  };
  const { telemetry, close } = await openTelemetry({
    traces: undefined,
    measures: {
      push: {
        target: targetOf("metrics", {
          exporter: "otlp",
          protocol: "http",
          endpoint: `127.0.0.1:${port}`,
          insecure: true,
          urlpath: "",
          headers: ["authorization:secret"],
          serviceName: "pemba",
        }),
        intervalMs: 200,
      },
      scrape: undefined,
      serviceName: "pemba",
    },
    version: "0",
    instance: "one",
    report: { warn: say, info: say },
  });
  t.after(async () => await close(0));
  telemetry.add("pemba.history.removed", 7, {});
  await isTold;
  const collector = await startCollector(t, port);
  const point = await collector.until(() =>
    collector.points.find(
      ({ name, value }) => name === "pemba.telemetry.failures" && Number(value) > 0,
    ),
  );
  assert.deepEqual(point.attributes, { signal: "metrics" });
  assert.ok(
    collector.points.some(({ name, value }) => name === "pemba.history.removed" && value === 7),
  );
  // The line comes after what it tells of.
  await collector.until(() => (warnings.length > 1 ? true : undefined));
  assert.equal(warnings.length, 2, warnings.join("\n"));
  assert.match(
    warnings[0] ?? "",
    /^metrics are not accepted by http:\/\/127\.0\.0\.1:\d+\/v1\/metrics /,
  );
  assert.match(warnings[0] ?? "", /ECONNREFUSED/);
  assert.match(warnings[1] ?? "", /^metrics are accepted again by .*, \d+ exports? (are|is) lost$/);
  assert.doesNotMatch(warnings.join(), /secret/);
});

test("spans that no collector takes are dropped and not kept", async (t) => {
  const port = await freePort();
  const { telemetry, close } = await openTelemetry({
    traces: targetOf("traces", {
      exporter: "otlp",
      protocol: "http",
      endpoint: `127.0.0.1:${port}`,
      insecure: true,
      urlpath: "",
      headers: [],
      serviceName: "pemba",
    }),
    measures: undefined,
    version: "0",
    instance: "one",
    report: { warn: () => {}, info: () => {} },
  });
  t.after(async () => await close(0));
  for (let count = 0; count < 20_000; count += 1) {
    const record = telemetry.begin({
      method: "permissions.check",
      transport: "rest",
      traceparent: undefined,
      tracestate: undefined,
    });
    record.end("OK");
  }
  const collector = await startCollector(t, port);
  await close(10_000);
  const { length } = collector.spans;
  assert.ok(length > 0 && length <= 2_048 + 512, String(length));
});

test("a process ends in time although its collector is gone", async (t) => {
  const endpoint = `127.0.0.1:${await freePort()}`;
  const words = ["tracer", "meter", "log"].flatMap((flag) => [
    `--${flag}-enabled`,
    `--${flag}-endpoint=${endpoint}`,
    `--${flag}-insecure`,
  ]);
  const pemba = await servePemba(t, [...words, "--server-grace-period=2s"]);
  const response = await fetch(`${pemba.url}/healthz`);
  assert.equal(response.status, 200);
  pemba.process.kill("SIGTERM");
  const { status, stdout } = await pemba.finished;
  assert.equal(status, 0);
  for (const signal of ["traces", "metrics", "logs"]) {
    assert.ok(stdout.split(`${signal} are not accepted by`).length <= 2, stdout);
  }
});

test("unknown exporters are refused, and the error lists the known ones", async () => {
  for (const name of ["jaeger", "signoz", "gcp"]) {
    const { status, stderr } = await runCommand(["serve", `--tracer-exporter=${name}`]);
    assert.equal(status, 1);
    assert.match(stderr, /expected otlp, otlp-http, otlp-grpc or zipkin \(Jaeger, SigNoz .*otlp/);
  }
});

test("a taken port for Prometheus is reported, and the process ends", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : assert.fail();
  const { status, stderr } = await runPemba([
    "serve",
    "--meter-prometheus-enabled",
    "--meter-prometheus-host=127.0.0.1",
    `--meter-prometheus-port=${port}`,
  ]);
  assert.equal(status, 1);
  assert.match(stderr, /meter\.prometheus\.port: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
});
