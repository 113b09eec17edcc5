import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";

import type { Telemetry } from "../base/telemetry.ts";

/** How often to measure the delay of the event loop, in milliseconds. */
const resolution = 10;
const nanoseconds = 1e-9;
const microseconds = 1e-6;

/** Measures the process itself. Returns a function that stops this. */
export function measureRuntime({ observe }: Pick<Telemetry, "observe">): () => void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  // The histogram holds the time between two measurements.
  const late = (value: number): number => Math.max(0, value * nanoseconds - resolution / 1_000);
  const only = (value: number) => [{ value, labels: {} }];
  observe("nodejs.eventloop.delay.p50", () => only(late(delay.percentile(50))));
  observe("nodejs.eventloop.delay.p99", () => only(late(delay.percentile(99))));
  observe("nodejs.eventloop.delay.max", () => {
    const readings = only(late(delay.max));
    // This is the last of the three values to be read.
    delay.reset();
    return readings;
  });
  let last = performance.eventLoopUtilization();
  observe("nodejs.eventloop.utilization", () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return only(utilization);
  });
  observe("v8js.memory.heap.used", () => only(getHeapStatistics().used_heap_size));
  observe("v8js.memory.heap.limit", () => only(getHeapStatistics().heap_size_limit));
  observe("process.memory.usage", () => only(process.memoryUsage.rss()));
  observe("process.cpu.time", () => {
    const { user, system } = process.cpuUsage();
    return [
      { value: user * microseconds, labels: { "cpu.mode": "user" } },
      { value: system * microseconds, labels: { "cpu.mode": "system" } },
    ];
  });
  observe("process.uptime", () => only(process.uptime()));
  return () => delay.disable();
}
