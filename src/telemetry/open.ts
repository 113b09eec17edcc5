import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

import type { Tracer } from "@opentelemetry/api";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

import type { Telemetry } from "../base/telemetry.ts";
import type { ProcessMeasures } from "./combine-measures.ts";
import { instrumentsOf } from "./instruments.ts";
import { type MeasuredProcess, openMeasures, type Readers } from "./measures.ts";
import { type ExportReport, reportOutages } from "./outage.ts";
import { createRecorder } from "./recorder.ts";
import { type ResourceIdentity, resourceOf } from "./resource.ts";
import { type Target, headersOf, metadataOf } from "./target.ts";
import { within } from "./within.ts";

export interface TelemetryOptions {
  /** Undefined: no traces. */
  readonly traces: Target | undefined;
  /** Undefined: no metrics. */
  readonly measures: Readers | undefined;
  readonly version: string;
  /** The id of the instance. */
  readonly instance: string;
  /** Which process of the instance is measured: the only one if it is absent. */
  readonly measured?: MeasuredProcess | undefined;
  readonly report: Omit<ExportReport, "failed">;
}

export interface OpenTelemetry {
  readonly telemetry: Telemetry;
  /** The port for scraping metrics. Undefined if scraping is off. */
  readonly scrapePort: number | undefined;
  /** Reads the measures of a worker. Undefined in other processes, and if there are none. */
  readonly read: (() => Promise<ProcessMeasures>) | undefined;
  /** Sends the rest, for at most that many milliseconds. Never fails. */
  readonly close: (withinMs: number) => Promise<void>;
}

/**
 * Opens the exporters of traces and metrics. Fails if the port for Prometheus cannot be listened
 * on.
 */
export async function openTelemetry({
  traces,
  measures,
  version,
  instance,
  measured = { kind: "only" },
  report,
}: TelemetryOptions): Promise<OpenTelemetry> {
  // The counter of failed exports is itself made of the exported metrics.
  let telemetry: Telemetry | undefined;
  const exports: ExportReport = {
    ...report,
    failed: (signal) => telemetry?.add("pemba.telemetry.failures", 1, { signal }),
  };
  const identity = { version, instance };
  const openedMeasures =
    measures && (await openMeasures(measures, { ...identity, measured }, exports));
  const openedTraces = traces && (await openTraces(traces, identity, exports));
  const instruments = openedMeasures && instrumentsOf(openedMeasures.meter);
  telemetry = createRecorder({ tracer: openedTraces?.tracer, instruments });
  const stopRuntime = instruments && measureRuntime(instruments);
  return {
    telemetry,
    scrapePort: openedMeasures?.scrapePort,
    read: openedMeasures?.read,
    close: async (withinMs) => {
      const opened = [openedTraces, openedMeasures].filter((one) => one !== undefined);
      await within(
        withinMs,
        opened.map(async (one) => await one.close()),
      );
      stopRuntime?.();
    },
  };
}

/** How often to measure the delay of the event loop, in milliseconds. */
const resolution = 10;
const nanoseconds = 1e-9;
const microseconds = 1e-6;

/** Measures the process itself. Returns a function that stops this. */
function measureRuntime({ observe }: Pick<Telemetry, "observe">): () => void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  // The histogram holds the time between two measurements.
  const late = (value: number): number => Math.max(0, value * nanoseconds - resolution / 1_000);
  const only = (value: number) => [{ value, labels: {} }];
  observe("nodejs.eventloop.delay.p50", () => only(late(delay.percentile(50))));
  observe("nodejs.eventloop.delay.p99", () => only(late(delay.percentile(99))));
  observe("nodejs.eventloop.delay.max", () => {
    const readings = only(late(delay.max));
    // This is the last of the three values to be read.
    delay.reset();
    return readings;
  });
  let last = performance.eventLoopUtilization();
  observe("nodejs.eventloop.utilization", () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return only(utilization);
  });
  observe("v8js.memory.heap.used", () => only(getHeapStatistics().used_heap_size));
  observe("v8js.memory.heap.limit", () => only(getHeapStatistics().heap_size_limit));
  observe("process.memory.usage", () => only(process.memoryUsage.rss()));
  observe("process.cpu.time", () => {
    const { user, system } = process.cpuUsage();
    return [
      { value: user * microseconds, labels: { "cpu.mode": "user" } },
      { value: system * microseconds, labels: { "cpu.mode": "system" } },
    ];
  });
  observe("process.uptime", () => only(process.uptime()));
  return () => delay.disable();
}

export interface OpenTraces {
  readonly tracer: Tracer;
  /** Sends the rest, and resolves when that has succeeded or failed. */
  close(): Promise<void>;
}

/** Opens the exporter of traces. It sends spans in batches. Spans beyond its queue are dropped. */
async function openTraces(
  target: Target,
  identity: ResourceIdentity,
  report: ExportReport,
): Promise<OpenTraces> {
  const exporter = await exporterOf(target);
  reportOutages(exporter, { signal: "traces", target, report });
  const provider = new TracerProvider({
    resource: resourceOf(target.serviceName, identity),
    // The caller decides whether its whole trace is sampled.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  return {
    tracer: provider.getTracer("pemba", identity.version),
    close: async () => await provider.shutdown(),
  };
}

async function exporterOf({ protocol, url, headers, serviceName }: Target): Promise<SpanExporter> {
  switch (protocol) {
    case "http": {
      const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
      return new OTLPTraceExporter({ url, headers: headersOf(headers) });
    }
    case "grpc": {
      const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-grpc");
      return new OTLPTraceExporter({ url, metadata: metadataOf(headers) });
    }
    case "zipkin": {
      const { ZipkinExporter } = await import("@opentelemetry/exporter-zipkin");
      return new ZipkinExporter({ url, headers: headersOf(headers), serviceName });
    }
  }
}
