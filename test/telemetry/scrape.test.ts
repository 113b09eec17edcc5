/** What Prometheus is answered on its own port. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";

import { MeterProvider } from "@opentelemetry/sdk-metrics";

import { openScrape } from "../../src/telemetry/scrape.ts";
import { until } from "../store/open-write.ts";

test("requests that are sent ahead share one reading of the measures", async (t) => {
  const scrape = await openScrape({ host: "127.0.0.1", port: 0 });
  const provider = new MeterProvider({ readers: [scrape.reader] });
  let readings = 0;
  const gauge = provider.getMeter("test").createObservableGauge("readings");
  gauge.addCallback((result) => {
    readings += 1;
    result.observe(readings);
  });
  const socket = connect(scrape.port, "127.0.0.1");
  t.after(async () => {
    socket.destroy();
    await scrape.close();
  });
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.write("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n".repeat(200));
  await until(async () => (text.split(" 200 OK").length > 200 ? true : undefined));
  assert.ok(readings < 5, `${readings} readings`);
});
