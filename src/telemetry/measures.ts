import type { Meter } from "@opentelemetry/api";
import {
  type IMetricReader,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";

import { type ExportReport, reportOutages } from "./outage.ts";
import { resourceOf } from "./resource.ts";
import type { ScrapeAddress, Scrape } from "./scrape.ts";
import { headersOf, metadataOf, type Target } from "./target.ts";

/** The readers of metrics: a collector that they are pushed to, one that scrapes them, or both. */
export interface Readers {
  readonly push: { readonly target: Target; readonly intervalMs: number } | undefined;
  readonly scrape: ScrapeAddress | undefined;
  readonly serviceName: string;
}

export interface OpenMeasures {
  readonly meter: Meter;
  /** The port for scraping. Undefined if scraping is off. */
  readonly scrapePort: number | undefined;
  /** Sends the rest, and resolves when that has succeeded or failed. */
  close(): Promise<void>;
}

/** A collector that does not answer must not delay the next export. */
const exportTimeoutMaxMs = 10_000;

/** Opens the exporters of metrics. Fails if the port for scraping cannot be listened on. */
export async function openMeasures(
  { push, scrape, serviceName }: Readers,
  version: string,
  report: ExportReport,
): Promise<OpenMeasures> {
  const readers: IMetricReader[] = [];
  if (push !== undefined) readers.push(await pushReader(push, report));
  const listener = scrape && (await openScrapeListener(scrape));
  if (listener !== undefined) readers.push(listener.reader);
  const provider = new MeterProvider({ resource: resourceOf(serviceName, version), readers });
  return {
    meter: provider.getMeter("pemba", version),
    scrapePort: listener?.port,
    close: async () => {
      await Promise.all([provider.shutdown(), listener?.close()]);
    },
  };
}

async function openScrapeListener(address: ScrapeAddress): Promise<Scrape> {
  const { openScrape } = await import("./scrape.ts");
  return await openScrape(address);
}

async function pushReader(
  { target, intervalMs }: NonNullable<Readers["push"]>,
  report: ExportReport,
): Promise<IMetricReader> {
  const exporter = await exporterOf(target);
  reportOutages(exporter, { signal: "metrics", target, report });
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(exportTimeoutMaxMs, intervalMs),
  });
}

async function exporterOf({ protocol, url, headers }: Target): Promise<PushMetricExporter> {
  if (protocol === "grpc") {
    const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-grpc");
    return new OTLPMetricExporter({ url, metadata: metadataOf(headers) });
  }
  const { OTLPMetricExporter } = await import("@opentelemetry/exporter-metrics-otlp-proto");
  return new OTLPMetricExporter({ url, headers: headersOf(headers) });
}
