import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { labelValues, type Metric, metrics } from "../../src/base/metrics.ts";
import { prometheusName } from "./prometheus-name.ts";

const page = join(import.meta.dirname, "../../docs/observability.md");
const table: Readonly<Record<string, Metric>> = metrics;
const kinds = {
  counter: "counter",
  observed_counter: "counter",
  histogram: "histogram",
  gauge: "gauge",
} as const;

/** The parts of the page that follow from the table of measures, between their marks. */
function generated(): Readonly<Record<string, string>> {
  const names = Object.entries(table).map(([name, metric]) => [
    `\`${name}\``,
    `\`${prometheusName(name, metric)}\``,
    kinds[metric.kind],
    metric.labels.map((label) => `\`${label}\``).join(", "),
    metric.about,
  ]);
  const labels = Object.entries(labelValues).map(([label, values]) => [
    `\`${label}\``,
    Array.isArray(values)
      ? values.map((value) => `\`${value}\``).join(", ")
      : "of" in values
        ? values.of
        : "",
  ]);
  return {
    metrics: asTable([["Name", "In Prometheus", "Kind", "Labels", "What"], ...names]),
    labels: asTable([["Label", "Values"], ...labels]),
  };
}

/** Rows of cells as the formatter writes them, of which the first are the heads. */
function asTable(rows: readonly (readonly string[])[]): string {
  const [heads = [], ...others] = rows;
  const widths = heads.map((_head, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0, fill)).join(" | ")} |`;
  return [heads, heads.map(() => ""), ...others]
    .map((row, index) => line(row, index === 1 ? "-" : " "))
    .join("\n");
}

test("docs/observability.md says what the table of measures says", () => {
  let text = readFileSync(page, "utf8");
  for (const [name, part] of Object.entries(generated())) {
    const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
    assert.ok(text.includes(start) && text.includes(end), `the page has the marks of ${name}`);
    const before = text.slice(0, text.indexOf(start) + start.length);
    text = `${before}\n\n${part}\n\n${text.slice(text.indexOf(end))}`;
  }
  // UPDATE_PAGES=1 writes the page anew after the table was changed.
  if (process.env["UPDATE_PAGES"] === "1") writeFileSync(page, text);
  assert.equal(readFileSync(page, "utf8"), text);
});
