import assert from "node:assert/strict";
import { test } from "node:test";

import { type GivenTarget, type Signal, targetOf } from "../../src/telemetry/target.ts";

const given: GivenTarget = {
  exporter: "otlp",
  protocol: "http",
  endpoint: "",
  insecure: false,
  urlpath: "",
  headers: [],
  serviceName: "pemba",
};

const cases: readonly (readonly [Signal, Partial<GivenTarget>, string])[] = [
  ["traces", {}, "http://localhost:4318/v1/traces"],
  ["metrics", {}, "http://localhost:4318/v1/metrics"],
  ["logs", { protocol: "grpc" }, "http://localhost:4317"],
  ["traces", { exporter: "zipkin" }, "http://localhost:9411/api/v2/spans"],
  ["traces", { endpoint: "host:4318" }, "https://host:4318/v1/traces"],
  ["traces", { endpoint: "host:4318", insecure: true }, "http://host:4318/v1/traces"],
  ["traces", { endpoint: "http://host:4318" }, "http://host:4318/v1/traces"],
  ["traces", { endpoint: "https://host/otlp/v1/traces" }, "https://host/otlp/v1/traces"],
  ["traces", { endpoint: "https://host/a", urlpath: "/b" }, "https://host/b"],
  ["logs", { endpoint: "host:1", urlpath: "b/c" }, "https://host:1/b/c"],
  ["logs", { endpoint: "host:4317", protocol: "grpc" }, "https://host:4317"],
  ["logs", { endpoint: "host:1", protocol: "grpc", insecure: true }, "http://host:1"],
  [
    "logs",
    { endpoint: "host:1", protocol: "grpc", exporter: "otlp-http" },
    "https://host:1/v1/logs",
  ],
  ["logs", { endpoint: "host:4317", exporter: "otlp-grpc" }, "https://host:4317"],
  ["traces", { endpoint: "host:9411", exporter: "zipkin" }, "http://host:9411/api/v2/spans"],
];

for (const [signal, options, url] of cases) {
  test(`${signal} with ${JSON.stringify(options)} go to ${url}`, () => {
    assert.equal(targetOf(signal, { ...given, ...options }).url, url);
  });
}

test("a header ends its name at the first colon", () => {
  const { headers } = targetOf("logs", { ...given, headers: ["x-url: https://a:1", "empty:"] });
  assert.deepEqual(headers, [
    { name: "x-url", value: "https://a:1" },
    { name: "empty", value: "" },
  ]);
});
