import type { ExportResult } from "@opentelemetry/core";

import type { Signal, Target } from "./target.ts";

/** Gets the outcome of exports. */
export interface ExportReport {
  /** Writes a line for the operator. */
  readonly warn: (message: string) => void;
  readonly info: (message: string) => void;
  /** Called for every failed export. */
  readonly failed: (signal: Signal) => void;
}

/** The common part of all OpenTelemetry exporters. */
interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** The result code of an accepted export. The package defines it as an enum. */
const accepted: ExportResult["code"] = 0;

/**
 * Reports failures of an exporter: one line when a collector becomes unreachable and one when it is
 * back, for any number of lost exports in between.
 */
export function reportOutages<Items>(
  exporter: Exporter<Items>,
  { signal, target, report }: { signal: Signal; target: Target; report: ExportReport },
): void {
  const send = exporter.export.bind(exporter);
  let lost = 0;
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code === accepted) {
        if (lost > 0)
          report.info(`${signal} are accepted again by ${target.url}, ${lost} exports are lost`);
        lost = 0;
      } else {
        if (lost === 0) report.warn(outageLine(signal, target, result.error));
        lost += 1;
        report.failed(signal);
      }
      done(result);
    });
}

function outageLine(signal: Signal, target: Target, error: Error | undefined): string {
  return `${signal} are not accepted by ${target.url} and are lost until they are: ${causeOf(error)}`;
}

/** Describes the cause without headers and without the exported data. */
function causeOf(error: Error | undefined): string {
  const code = error !== undefined && "code" in error ? String(error.code) : "";
  const text = error?.message.split("\n", 1)[0] ?? "";
  return (
    [text, text.includes(code) ? "" : code].filter((part) => part !== "").join(", ") ||
    "no cause is known"
  );
}
