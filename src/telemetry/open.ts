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
  /** Undefined: not traced. */
  readonly traces: Target | undefined;
  /** Undefined: not measured. */
  readonly measures: Readers | undefined;
  readonly version: string;
  readonly report: Omit<ExportReport, "failed">;
}

export interface OpenTelemetry {
  readonly telemetry: Telemetry;
  /** The port where the measures can be read; undefined when nobody comes for them. */
  readonly scrapePort: number | undefined;
  /** Sends what is left, for as long as is given, in milliseconds. Never fails. */
  readonly close: (withinMs: number) => Promise<void>;
}

/** Begins to trace and to measure. Fails as listening for Prometheus does. */
export async function openTelemetry({
  traces,
  measures,
  version,
  report,
}: TelemetryOptions): Promise<OpenTelemetry> {
  // What counts failed exports is made of what exports.
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
