import type { HeapProfiler, Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";

import { pause } from "../base/pause.ts";
import type { StackFrame, Samples, StackSample } from "./pprof.ts";

const cpuIntervalMicroseconds = 1_000;
const heapIntervalBytes = 64 * 1024;

/** Names that the engine gives to idle time and to the root of all stacks. */
const idle = "(idle)";
const root = "(root)";

/** Profiles processor time for that many milliseconds, or until the signal is aborted. */
export async function profileCpu(milliseconds: number, signal: AbortSignal): Promise<Samples> {
  return await inSession(async (session) => {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: cpuIntervalMicroseconds });
    const startedAt = Date.now();
    await session.post("Profiler.start");
    await pause(milliseconds, signal);
    const { profile } = await session.post("Profiler.stop");
    return {
      units: [
        { type: "samples", unit: "count" },
        { type: "cpu", unit: "nanoseconds" },
      ],
      samples: cpuSamples(profile),
      period: cpuIntervalMicroseconds * 1_000,
      startedAt,
      duration: (profile.endTime - profile.startTime) / 1_000,
    };
  });
}

/**
 * Profiles allocations during that time: all of them, or only those still in use at the end.
 * Earlier allocations are missing, because the engine records them only while profiling.
 */
export async function profileHeap(
  kind: "allocs" | "heap",
  milliseconds: number,
  signal: AbortSignal,
): Promise<Samples> {
  return await inSession(async (session) => {
    const startedAt = Date.now();
    await session.post("HeapProfiler.startSampling", {
      samplingInterval: heapIntervalBytes,
      includeObjectsCollectedByMajorGC: kind === "allocs",
      includeObjectsCollectedByMinorGC: kind === "allocs",
    });
    await pause(milliseconds, signal);
    const { profile } = await session.post("HeapProfiler.stopSampling");
    return {
      units: [{ type: kind === "allocs" ? "alloc_space" : "inuse_space", unit: "bytes" }],
      samples: [...heapSamples(profile.head, [])],
      period: heapIntervalBytes,
      startedAt,
      duration: Date.now() - startedAt,
    };
  });
}

async function inSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    session.disconnect();
  }
}

/** A sample lasts until the next one. */
function cpuSamples({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): StackSample[] {
  const seen = new Map<number, { count: number; microseconds: number }>();
  for (const [index, id] of samples.entries()) {
    const total = seen.get(id) ?? { count: 0, microseconds: 0 };
    total.count++;
    total.microseconds += Math.max(0, timeDeltas[index + 1] ?? 0);
    seen.set(id, total);
  }
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const stackOf = (leaf: number): readonly StackFrame[] => {
    const stack: StackFrame[] = [];
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const node = byId.get(id);
      if (node !== undefined && node.callFrame.functionName !== root) stack.push(node.callFrame);
    }
    return stack;
  };
  return [...seen]
    .map(([id, { count, microseconds }]) => ({
      stack: stackOf(id),
      values: [count, microseconds * 1_000],
    }))
    .filter(({ stack }) => stack.length > 0 && stack[0]?.functionName !== idle);
}

function* heapSamples(
  { callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode,
  outer: readonly StackFrame[],
): Generator<StackSample> {
  const stack = callFrame.functionName === root ? outer : [callFrame, ...outer];
  if (selfSize > 0 && stack.length > 0) yield { stack, values: [Math.round(selfSize)] };
  for (const child of children) yield* heapSamples(child, stack);
}
