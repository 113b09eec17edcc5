import assert from "node:assert/strict";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import {
  combineMeasures,
  lastingMeasures,
  type ProcessMeasures,
} from "../../src/telemetry/combine-measures.ts";
import { type OpenTelemetry, openTelemetry } from "../../src/telemetry/open.ts";

type ReadMeasures = () => Promise<ProcessMeasures>;

/** Of a worker. */
async function openWorker(): Promise<OpenTelemetry & { readonly read: ReadMeasures }> {
  const opened = await openTelemetry({
    traces: undefined,
    measures: { push: undefined, scrape: undefined, serviceName: "pemba" },
    version: "0",
    instance: "one",
    measured: { kind: "worker" },
    report: { warn: () => {}, info: () => {} },
  });
  assert.notEqual(opened.telemetry, noTelemetry);
  return { ...opened, read: must(opened.read, "a worker is read") };
}

/** The measures of a worker that did this. */
async function measured(work: (telemetry: Telemetry) => void): Promise<ProcessMeasures> {
  const { telemetry, read, close } = await openWorker();
  work(telemetry);
  // As it comes from another process.
  const measures = structuredClone(await read());
  await close(0);
  return measures;
}

function pointsOf(
  measures: ProcessMeasures,
  name: string,
): readonly (readonly [object, unknown])[] {
  return measures
    .flatMap((scope) => scope.metrics)
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => [attributes, value]));
}

const noted = async (removed: number, streams: number, lag: number): Promise<ProcessMeasures> =>
  await measured((telemetry) => {
    telemetry.add("pemba.history.removed", removed, {});
    telemetry.record("pemba.write.size", removed, {});
    telemetry.observe("pemba.watch.streams", () => [{ value: streams, labels: {} }]);
    telemetry.observe("pemba.watch.lag", () => [{ value: lag, labels: {} }]);
    telemetry.observe("pemba.queue.waiting", () => [
      { value: streams, labels: { queue: "reads" } },
      { value: 1, labels: { queue: streams > 2 ? "changes" : "questions" } },
    ]);
  });

test("counters, histograms and numbers of things add up, and of ages the highest one counts", async () => {
  const all = combineMeasures([await noted(3, 2, 0.5), await noted(40, 5, 0.25)]);
  assert.deepEqual(pointsOf(all, "pemba.history.removed"), [[{}, 43]]);
  assert.deepEqual(pointsOf(all, "pemba.watch.streams"), [[{}, 7]]);
  assert.deepEqual(pointsOf(all, "pemba.watch.lag"), [[{}, 0.5]]);
  assert.deepEqual(pointsOf(all, "pemba.queue.waiting"), [
    [{ queue: "reads" }, 7],
    [{ queue: "questions" }, 1],
    [{ queue: "changes" }, 1],
  ]);
  const [[, histogram] = []] = pointsOf(all, "pemba.write.size");
  assert.ok(typeof histogram === "object" && histogram !== null);
  const { buckets, ...rest } = histogram as { readonly buckets: { readonly counts: number[] } };
  assert.deepEqual(rest, { count: 2, sum: 43, min: 3, max: 40 });
  assert.deepEqual(
    buckets.counts.flatMap((count, nth) => (count > 0 ? [[nth, count]] : [])),
    [
      [2, 1],
      [5, 1],
    ],
  );
});

test("a process that has ended leaves its counts, and nothing that was true while it ran", async () => {
  const gone = await noted(3, 2, 0.5);
  const lasting = lastingMeasures([gone]);
  assert.deepEqual(pointsOf(lasting, "pemba.history.removed"), [[{}, 3]]);
  assert.deepEqual(pointsOf(lasting, "pemba.watch.streams"), []);
  const all = combineMeasures([lasting, await noted(4, 1, 0)]);
  assert.deepEqual(pointsOf(all, "pemba.history.removed"), [[{}, 7]]);
  assert.deepEqual(pointsOf(all, "pemba.watch.streams"), [[{}, 1]]);
});

test("without a process there are no measures", () => {
  assert.deepEqual(combineMeasures([]), []);
});

test("a worker that is asked while it ends says what it said last", async () => {
  const { telemetry, read, close } = await openWorker();
  telemetry.add("db.client.retries", 3, { fault: "lost" });
  const last = await read();
  assert.ok(pointsOf(last, "db.client.retries").some(([, value]) => value === 3));
  await close(0);
  assert.deepEqual(await read(), last);
});
