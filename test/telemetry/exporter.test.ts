import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { test } from "node:test";

import { startCollector } from "../support/collector.ts";
import { type ServedHere, serveHere } from "../support/serve-here.ts";

/** What is left is sent at the end. */
async function end({ stop, finished }: ServedHere): Promise<void> {
  stop();
  await finished;
}

test("an exporter that names its protocol uses it, with any other setting", async (t) => {
  const collector = await startCollector(t);
  const words = (["tracer", "meter", "log"] as const).flatMap((flag) => [
    `--${flag}-enabled`,
    `--${flag}-exporter=otlp-grpc`,
    `--${flag}-protocol=http`,
    `--${flag}-endpoint=http://${collector.grpc}`,
  ]);
  const pemba = await serveHere(t, words);
  await fetch(`${pemba.url}/v1/tenants/list`, { method: "POST", body: "{}" });
  await end(pemba);
  assert.deepEqual(
    new Set(collector.requests.map(({ path }) => path.split(".").at(-1))),
    new Set(["TraceService/Export", "MetricsService/Export", "LogsService/Export"]),
  );
});

test("traces go to Zipkin, too", async (t) => {
  const names: unknown[] = [];
  const zipkin = createServer((request, response) => {
    void json(request).then((spans) => {
      for (const span of Array.isArray(spans) ? spans : []) names.push([request.url, span.name]);
      response.writeHead(202).end();
    });
  }).listen(0, "127.0.0.1");
  t.after(() => {
    zipkin.close();
    zipkin.closeAllConnections();
  });
  await once(zipkin, "listening");
  const address = zipkin.address();
  assert.ok(typeof address === "object" && address !== null);
  const pemba = await serveHere(t, [
    "--tracer-enabled",
    "--tracer-exporter=zipkin",
    `--tracer-endpoint=http://127.0.0.1:${address.port}`,
  ]);
  await fetch(`${pemba.url}/v1/tenants/list`, { method: "POST", body: "{}" });
  await end(pemba);
  assert.deepEqual(names, [["/api/v2/spans", "tenants.list"]]);
});
