import type { Meter } from "@opentelemetry/api";
import {
  type CollectionResult,
  type IMetricReader,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ScopeMetrics,
} from "@opentelemetry/sdk-metrics";

import { combineMeasures, lastingMeasures, type ProcessMeasures } from "./combine-measures.ts";
import { type ExportReport, reportOutages } from "./outage.ts";
import { type ResourceIdentity, resourceOf } from "./resource.ts";
import type { ScrapeAddress, Scrape } from "./scrape.ts";
import { headersOf, metadataOf, type Target } from "./target.ts";
import { temporalityOf } from "./temporality.ts";

/**
 * Which process of an instance is measured. A worker is read by the supervisor, which reads its own
 * measures with those of its workers.
 */
export type MeasuredProcess =
  | { readonly kind: "only" }
  | { readonly kind: "worker" }
  | { readonly kind: "supervisor"; readonly workers: WorkersMeasures };

/** The measures of the workers of an instance. */
export interface WorkersMeasures {
  /** Asks those that run. One that is late counts as it did the last time. */
  read(): Promise<readonly ProcessMeasures[]>;
  /** The last measures of those that have ended since the last call. */
  takeEnded(): readonly ProcessMeasures[];
}

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
  /** Reads the measures of a worker; once they are closed, the last ones. Undefined in other processes. */
  readonly read: (() => Promise<ProcessMeasures>) | undefined;
  /** Sends the rest, and resolves when that has succeeded or failed. */
  close(): Promise<void>;
}

interface MeasuredIdentity extends ResourceIdentity {
  readonly measured: MeasuredProcess;
}

/** A collector that does not answer must not delay the next export. */
const exportTimeoutMaxMs = 10_000;

/** Opens the exporters of metrics. Fails if the port for scraping cannot be listened on. */
export async function openMeasures(
  { push, scrape, serviceName }: Readers,
  { measured, ...identity }: MeasuredIdentity,
  report: ExportReport,
): Promise<OpenMeasures> {
  const exporting: IMetricReader[] = [];
  if (push !== undefined) exporting.push(await pushReader(push, report));
  const listener = scrape && (await openScrapeListener(scrape));
  if (listener !== undefined) exporting.push(listener.reader);
  const resource = resourceOf(serviceName, identity);
  const own = new OwnReader();
  const readers = measured.kind === "only" ? exporting : [own];
  const provider = new MeterProvider({ resource, readers });
  let last: ProcessMeasures = [];
  let isClosed = false;
  const read = async (): Promise<ProcessMeasures> => {
    // A supervisor may ask while its worker ends, and a reader that is closed cannot be asked.
    if (!isClosed) last = (await own.collect()).resourceMetrics.scopeMetrics;
    return last;
  };
  if (measured.kind === "supervisor") {
    const whole = readWhole(read, measured.workers);
    const collect = async (): Promise<CollectionResult> => ({
      resourceMetrics: { resource, scopeMetrics: await whole() },
      errors: [],
    });
    for (const reader of exporting) reader.setMetricProducer({ collect });
  }
  return {
    meter: provider.getMeter("pemba", identity.version),
    scrapePort: listener?.port,
    read: measured.kind === "worker" ? read : undefined,
    close: async () => {
      // The last export of a supervisor reads its own measures, too.
      if (measured.kind === "supervisor") {
        await Promise.all(exporting.map(async (reader) => await reader.shutdown()));
      }
      isClosed = true;
      await Promise.all([provider.shutdown(), listener?.close()]);
    },
  };
}

/** Reads the measures of an instance: of its supervisor, of its workers and of those that have ended. */
function readWhole(
  readOwn: () => Promise<ProcessMeasures>,
  workers: WorkersMeasures,
): () => Promise<ScopeMetrics[]> {
  let lasting: ProcessMeasures = [];
  return async () => {
    const [own, running] = await Promise.all([readOwn(), workers.read()]);
    lasting = lastingMeasures([lasting, ...workers.takeEnded()]);
    return combineMeasures([own, lasting, ...running]);
  };
}

/** Reads when it is asked. */
class OwnReader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: temporalityOf });
  }

  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** Sends what it reads from time to time. */
class PushReader extends PeriodicExportingMetricReader {
  override selectAggregationTemporality = temporalityOf;
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
  return new PushReader({
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
