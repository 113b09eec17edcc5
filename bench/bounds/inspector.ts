import { must } from "../../src/base/assert.ts";

/** The inspector of a process that was started with `--inspect`, by its address. */
export interface Inspector {
  /** Bytes of the heap that are in use once all garbage is collected. */
  readonly collectedHeap: () => Promise<number>;
  /** Evaluates an expression there; its value. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  readonly close: () => void;
}

/** Connects. A process that ends, ends what is asked of it with an error. */
export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, PromiseWithResolvers<object>>();
  let last = 0;
  const opened = Promise.withResolvers<void>();
  socket.addEventListener("open", () => opened.resolve());
  socket.addEventListener("close", () => {
    const gone = new Error("the inspector is gone");
    opened.reject(gone);
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  });
  socket.addEventListener("message", (event: MessageEvent) => {
    const data: unknown = event.data;
    const message: unknown = JSON.parse(String(data));
    const id = Number(partOf(message, "id"));
    waiting.get(id)?.resolve(must(objectOf(message), "a message is an object"));
    waiting.delete(id);
  });
  await opened.promise;
  const ask = async (method: string, params: object = {}): Promise<unknown> => {
    const answered = Promise.withResolvers<object>();
    last += 1;
    waiting.set(last, answered);
    socket.send(JSON.stringify({ id: last, method, params }));
    const answer = await answered.promise;
    const error = partOf(answer, "error");
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return partOf(answer, "result");
  };
  return {
    collectedHeap: async () => {
      await ask("HeapProfiler.collectGarbage");
      return Number(partOf(await ask("Runtime.getHeapUsage"), "usedSize"));
    },
    evaluate: async (expression) => {
      const answer = await ask("Runtime.evaluate", { expression, returnByValue: true });
      return partOf(partOf(answer, "result"), "value");
    },
    close: () => socket.close(),
  };
}

function partOf(value: unknown, key: string): unknown {
  const found = objectOf(value);
  return found === undefined ? undefined : Reflect.get(found, key);
}

function objectOf(value: unknown): object | undefined {
  return typeof value === "object" && value !== null ? value : undefined;
}
