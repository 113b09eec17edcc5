import type { Meter, ObservableResult } from "@opentelemetry/api";

import { must } from "../base/assert.ts";
import { buckets, labelValues, type Metric, type MetricName, metrics } from "../base/metrics.ts";
import type { MetricReading, Telemetry } from "../base/telemetry.ts";

/** The metrics part of telemetry. */
export type Instruments = Pick<Telemetry, "add" | "record" | "observe">;

/** Creates an instrument for each metric of the table. */
export function instrumentsOf(meter: Meter): Instruments {
  const counters = new Map<string, ReturnType<Meter["createCounter"]>>();
  const histograms = new Map<string, ReturnType<Meter["createHistogram"]>>();
  const observed = new Map<string, ReturnType<Meter["createObservableGauge"]>>();
  const table: Readonly<Record<MetricName, Metric>> = metrics;
  for (const [name, { kind, unit, about, labels, buckets: ends }] of Object.entries(table)) {
    const options = { unit, description: about };
    switch (kind) {
      case "counter": {
        const made = meter.createCounter(name, options);
        // A counter that appears only with its first event hides that event from queries for its
        // rate.
        for (const known of combinationsOf(labels)) made.add(0, known);
        counters.set(name, made);
        break;
      }
      case "observed_counter":
        observed.set(name, meter.createObservableCounter(name, options));
        break;
      case "gauge":
        observed.set(name, meter.createObservableGauge(name, options));
        break;
      case "histogram": {
        const explicitBucketBoundaries = [...buckets[must(ends, "a histogram has buckets")]];
        const advice = { explicitBucketBoundaries };
        histograms.set(name, meter.createHistogram(name, { ...options, advice }));
        break;
      }
    }
  }
  return {
    add: (name, amount, labels) =>
      must(counters.get(name), "it is in the table").add(amount, labels),
    record: (name, value, labels) =>
      must(histograms.get(name), "it is in the table").record(value, labels),
    observe: (name, read) =>
      must(observed.get(name), "it is in the table").addCallback((result: ObservableResult) => {
        for (const { value, labels } of read() as readonly MetricReading<"pemba.queue.waiting">[]) {
          result.observe(value, labels);
        }
      }),
  };
}

/** All combinations of label values. None if the values of a label are not listed. */
function combinationsOf(labels: Metric["labels"]): readonly Readonly<Record<string, string>>[] {
  return labels.reduce<readonly Readonly<Record<string, string>>[]>(
    (made, label) => {
      const values = labelValues[label];
      return "of" in values
        ? []
        : made.flatMap((one) => values.map((value) => ({ ...one, [label]: value })));
    },
    [{}],
  );
}
