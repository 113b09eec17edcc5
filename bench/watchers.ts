import { setTimeout as wait } from "node:timers/promises";

import { Watch } from "../src/gen/base/v1/watch_pb.ts";
import type { GrpcClient } from "../test/support/grpc.ts";
import { benchTenant } from "./store.ts";

/** Streams that tell of every change of the tenant, over both transports. */
export interface Watchers {
  /** How many of so many changes the slowest stream has not told, once it tells no more. */
  readonly untold: (changes: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

const perTransport = 2;
const patienceMs = 30_000;

/** Begins to watch; resolves when all streams are open. */
export async function watchWrites(url: string, grpc: GrpcClient): Promise<Watchers> {
  const end = new AbortController();
  const told: number[] = [];
  const streams: Promise<void>[] = [];
  const follow = (counts: AsyncIterable<number>): void => {
    const nth = told.push(0) - 1;
    const count = async (): Promise<void> => {
      for await (const changes of counts) told[nth] = (told[nth] ?? 0) + changes;
    };
    streams.push(
      count().catch((error: unknown) => {
        if (!end.signal.aborted) throw error;
      }),
    );
  };
  for (let nth = 0; nth < perTransport; nth++) {
    follow(await overRest(url, end.signal));
    follow(overGrpc(grpc, end.signal));
  }
  return {
    untold: async (changes) => {
      const deadline = performance.now() + patienceMs;
      while (Math.min(...told) < changes && performance.now() < deadline) await wait(20);
      return changes - Math.min(...told);
    },
    close: async () => {
      end.abort();
      await Promise.all(streams);
    },
  };
}

async function overRest(url: string, signal: AbortSignal): Promise<AsyncIterable<number>> {
  const response = await fetch(`${url}/v1/tenants/${benchTenant}/watch`, {
    method: "POST",
    body: "{}",
    signal,
  });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  return operationsIn(response.body.pipeThrough(new TextDecoderStream()));
}

/** Each change has one operation, and nothing else in the data has such a name. */
async function* operationsIn(texts: AsyncIterable<string>): AsyncGenerator<number> {
  const name = '"OPERATION_';
  let rest = "";
  for await (const text of texts) {
    const parts = (rest + text).split(name);
    yield parts.length - 1;
    rest = (parts.at(-1) ?? "").slice(1 - name.length);
  }
}

async function* overGrpc(grpc: GrpcClient, signal: AbortSignal): AsyncGenerator<number> {
  for await (const { changes } of grpc.stream(
    Watch.method.watch,
    { tenantId: benchTenant },
    { signal },
  )) {
    yield changes?.dataChanges.length ?? 0;
  }
}
