import assert from "node:assert/strict";
import { test } from "node:test";

import { type Metric, metrics } from "../../src/base/metrics.ts";
import { prometheusName } from "../telemetry/prometheus-name.ts";
import { alertQueries, dashboardQueries } from "./monitoring-queries.ts";

/** Every name that Prometheus has for a metric, with its labels. */
const known = new Map(
  Object.entries<Metric>(metrics).flatMap(([name, metric]): [string, readonly string[]][] => {
    const base = prometheusName(name, metric);
    const labels = metric.labels.map((label) => label.replaceAll(".", "_"));
    if (metric.kind !== "histogram") return [[base, labels]];
    return [
      [`${base}_bucket`, [...labels, "le"]],
      [`${base}_sum`, labels],
      [`${base}_count`, labels],
    ];
  }),
);

/** What else stands in queries: functions, operators, durations, and what Prometheus itself knows. */
const language = new Set([
  "sum",
  "max",
  "min",
  "count",
  "rate",
  "histogram_quantile",
  "vector",
  "by",
  "or",
  "s",
  "m",
  "h",
  "up",
  "job",
  "instance",
  // With `database.clusters`, metrics of each cluster have it as well.
  "cluster",
  "le",
]);

const queries = [...dashboardQueries({}), ...alertQueries()];

test("every query asks for metrics and labels that there are", () => {
  const labels = new Set([...known.values()].flat());
  const breaches = queries.flatMap(({ place, text }) =>
    wordsOf(text)
      .filter((word) => !language.has(word) && !known.has(word) && !labels.has(word))
      .map((word) => `${place}: ${word}`),
  );
  assert.deepEqual(breaches, []);
});

test("the dashboard shows every metric", () => {
  const shown = new Set(dashboardQueries({}).flatMap(({ text }) => wordsOf(text)));
  const missing = Object.entries<Metric>(metrics)
    .map(([name, metric]) => prometheusName(name, metric))
    .filter((name) => ["", "_bucket", "_sum", "_count"].every((end) => !shown.has(name + end)));
  assert.deepEqual(missing, []);
});

/** The words of a query outside of texts and of Grafana's variables. */
function wordsOf(query: string): readonly string[] {
  return query.replaceAll(/"[^"]*"|\$\w+/g, "").match(/[a-z_]\w*/g) ?? [];
}
