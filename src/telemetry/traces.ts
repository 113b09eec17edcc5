import type { Tracer } from "@opentelemetry/api";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

import { type ExportReport, reportOutages } from "./outage.ts";
import { resourceOf } from "./resource.ts";
import { headersOf, metadataOf, type Target } from "./target.ts";

export interface OpenTraces {
  readonly tracer: Tracer;
  /** Sends the rest, and resolves when that has succeeded or failed. */
  close(): Promise<void>;
}

/** Opens the exporter of traces. It sends spans in batches. Spans beyond its queue are dropped. */
export async function openTraces(
  target: Target,
  version: string,
  report: ExportReport,
): Promise<OpenTraces> {
  const exporter = await exporterOf(target);
  reportOutages(exporter, { signal: "traces", target, report });
  const provider = new TracerProvider({
    resource: resourceOf(target.serviceName, version),
    // The caller decides whether its whole trace is sampled.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  return {
    tracer: provider.getTracer("pemba", version),
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
