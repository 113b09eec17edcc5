import type { Telemetry } from "../base/telemetry.ts";
import { instrumentsOf } from "./instruments.ts";
import { openMeasures, type Readers } from "./measures.ts";
import type { ExportReport } from "./outage.ts";
import { createRecorder } from "./recorder.ts";
import { measureRuntime } from "./runtime.ts";
import type { Target } from "./target.ts";
import { openTraces } from "./traces.ts";
import { within } from "./within.ts";

export interface TelemetryOptions {
  /** Undefined: no traces. */
  readonly traces: Target | undefined;
  /** Undefined: no metrics. */
  readonly measures: Readers | undefined;
  readonly version: string;
  readonly report: Omit<ExportReport, "failed">;
}

export interface OpenTelemetry {
  readonly telemetry: Telemetry;
  /** The port for scraping metrics. Undefined if scraping is off. */
  readonly scrapePort: number | undefined;
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
  report,
}: TelemetryOptions): Promise<OpenTelemetry> {
  // The counter of failed exports is itself made of the exported metrics.
  let telemetry: Telemetry | undefined;
  const exports: ExportReport = {
    ...report,
    failed: (signal) => telemetry?.add("pemba.telemetry.failures", 1, { signal }),
  };
  const openedMeasures = measures && (await openMeasures(measures, version, exports));
  const openedTraces = traces && (await openTraces(traces, version, exports));
  const instruments = openedMeasures && instrumentsOf(openedMeasures.meter);
  telemetry = createRecorder({ tracer: openedTraces?.tracer, instruments });
  const stopRuntime = instruments && measureRuntime(instruments);
  return {
    telemetry,
    scrapePort: openedMeasures?.scrapePort,
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
