import type { Metric } from "../../src/base/metrics.ts";

const suffixes: Readonly<Record<string, string>> = { s: "_seconds", By: "_bytes", "1": "_ratio" };

/** A measure as Prometheus reads it. */
export function prometheusName(name: string, { kind, unit }: Metric): string {
  const isCounter = kind === "counter" || kind === "observed_counter";
  return name.replaceAll(".", "_") + (suffixes[unit] ?? "") + (isCounter ? "_total" : "");
}
