import type { Attributes, HrTime } from "@opentelemetry/api";
import {
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type ScopeMetrics,
} from "@opentelemetry/sdk-metrics";

import { type Metric, metrics } from "../base/metrics.ts";

/** The measures of one process, as one reading found them. */
export type ProcessMeasures = readonly ScopeMetrics[];

/**
 * The measures of an instance, from those of its processes: counters and histograms add up, and gauges as
 * the table of the metrics says. All processes have the same scope and the same table.
 */
export function combineMeasures(processes: readonly ProcessMeasures[]): ScopeMetrics[] {
  const scopes = processes.flat();
  const [first] = scopes;
  if (first === undefined) return [];
  const byName = Map.groupBy(
    scopes.flatMap((each) => each.metrics),
    ({ descriptor }) => descriptor.name,
  );
  return [{ scope: first.scope, metrics: [...byName.values()].flatMap(combined) }];
}

/** What a process that has ended leaves in the sums of its instance: a counter never falls. */
export function lastingMeasures(processes: readonly ProcessMeasures[]): ScopeMetrics[] {
  return combineMeasures(processes).map(({ scope, metrics: all }) => ({
    scope,
    metrics: all.filter(({ dataPointType }) => dataPointType !== DataPointType.GAUGE),
  }));
}

/** One metric of all processes, which is of the same type in each. */
function combined(parts: readonly MetricData[]): readonly MetricData[] {
  const [first] = parts;
  switch (first?.dataPointType) {
    case DataPointType.SUM:
      return [{ ...first, dataPoints: combinedPoints(parts.flatMap(numbersOf), sum) }];
    case DataPointType.GAUGE: {
      const across = acrossOf(first.descriptor.name);
      return [{ ...first, dataPoints: combinedPoints(parts.flatMap(numbersOf), across) }];
    }
    case DataPointType.HISTOGRAM:
      return [{ ...first, dataPoints: combinedPoints(parts.flatMap(histogramsOf), addHistograms) }];
    // No metric of the table is one.
    case DataPointType.EXPONENTIAL_HISTOGRAM:
    case undefined:
      return [];
  }
}

function numbersOf(part: MetricData): readonly DataPoint<number>[] {
  const isNumber =
    part.dataPointType === DataPointType.SUM || part.dataPointType === DataPointType.GAUGE;
  return isNumber ? part.dataPoints : [];
}

function histogramsOf(part: MetricData): readonly DataPoint<Histogram>[] {
  return part.dataPointType === DataPointType.HISTOGRAM ? part.dataPoints : [];
}

/** One point for each combination of labels. */
function combinedPoints<T>(
  points: readonly DataPoint<T>[],
  add: (one: T, other: T) => T,
): DataPoint<T>[] {
  const byLabels = Map.groupBy(points, ({ attributes }) => labelsKey(attributes));
  return [...byLabels.values()].map((same) =>
    same.reduce((one, other) => ({
      attributes: one.attributes,
      startTime: earlier(one.startTime, other.startTime),
      endTime: later(one.endTime, other.endTime),
      value: add(one.value, other.value),
    })),
  );
}

function labelsKey(attributes: Attributes): string {
  return JSON.stringify(
    Object.entries(attributes).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function sum(one: number, other: number): number {
  return one + other;
}

function acrossOf(name: string): (one: number, other: number) => number {
  const table: Readonly<Record<string, Metric>> = metrics;
  return table[name]?.across === "max" ? Math.max : sum;
}

function addHistograms(one: Histogram, other: Histogram): Histogram {
  return {
    buckets: {
      boundaries: one.buckets.boundaries,
      counts: one.buckets.counts.map((count, nth) => count + (other.buckets.counts[nth] ?? 0)),
    },
    count: one.count + other.count,
    sum: (one.sum ?? 0) + (other.sum ?? 0),
    min: Math.min(one.min ?? Infinity, other.min ?? Infinity),
    max: Math.max(one.max ?? -Infinity, other.max ?? -Infinity),
  };
}

function earlier(one: HrTime, other: HrTime): HrTime {
  return isBefore(one, other) ? one : other;
}

function later(one: HrTime, other: HrTime): HrTime {
  return isBefore(one, other) ? other : one;
}

function isBefore(one: HrTime, other: HrTime): boolean {
  return one[0] < other[0] || (one[0] === other[0] && one[1] < other[1]);
}
