import type { TestContext } from "node:test";

import type { Telemetry } from "../../src/base/telemetry.ts";
import { openTelemetry } from "../../src/telemetry/open.ts";
import { targetOf } from "../../src/telemetry/target.ts";
import { type Collector, startCollector } from "../support/collector.ts";

/** Telemetry with one that listens. */
export interface Observed {
  readonly telemetry: Telemetry;
  readonly collector: Collector;
  /** Where Prometheus would read. */
  readonly scrapeUrl: string;
  /** Sends what was recorded. Nothing is recorded after that. */
  readonly flush: () => Promise<void>;
}

/** Traces go to a collector, and measures can be read. It ends with the test. */
export async function observed(t: TestContext): Promise<Observed> {
  let flush = async (): Promise<void> => {};
  // Before the collector ends: what is sent to one that has ended is sent again and again.
  t.after(async () => await flush());
  const collector = await startCollector(t);
  const { telemetry, scrapePort, close } = await openTelemetry({
    traces: targetOf("traces", {
      exporter: "otlp",
      protocol: "http",
      endpoint: collector.http,
      insecure: true,
      urlpath: "",
      headers: [],
      serviceName: "pemba",
    }),
    measures: {
      push: undefined,
      scrape: { host: "127.0.0.1", port: 0 },
      serviceName: "pemba",
    },
    version: "0",
    instance: "one",
    report: { warn: () => {}, info: () => {} },
  });
  flush = async () => await close(30_000);
  return { telemetry, collector, scrapeUrl: `http://127.0.0.1:${scrapePort}/metrics`, flush };
}
