import type { WriteOutcome } from "./import-client.ts";
import type { Element } from "./import-line.ts";

export interface BatchLimits {
  readonly elements: number;
  /** Of their JSON, so that a request stays below what a server takes. */
  readonly bytes: number;
}

export interface BatchWriter {
  /** Adds the element, or tells that the batch has it already. May send the batch. */
  add(element: Element): Promise<"added" | "duplicate">;
  /** Sends what has gathered. */
  flush(): Promise<void>;
}

/**
 * Gathers elements and sends them in batches. A refused batch is narrowed down: the elements that
 * the answer names are reported and the rest is sent again; when it names none, each half is.
 */
export function batchWriter(options: {
  readonly limits: BatchLimits;
  send(batch: readonly Element[]): Promise<WriteOutcome>;
  written(count: number): void;
  refused(element: Element, reason: string): void;
}): BatchWriter {
  const { limits } = options;
  let batch: Element[] = [];
  let bytes = 0;
  let byKey = new Map<string, string>();

  async function deliver(elements: readonly Element[]): Promise<void> {
    let rest = elements;
    while (rest.length > 0) {
      const outcome = await options.send(rest);
      if (outcome.kind === "written") {
        options.written(rest.length);
        return;
      }
      const { reasons, message } = outcome;
      const [only, ...others] = rest;
      if (reasons.size === 0 && others.length > 0) {
        const middle = Math.ceil(rest.length / 2);
        await deliver(rest.slice(0, middle));
        rest = rest.slice(middle);
        continue;
      }
      if (reasons.size === 0 && only !== undefined) options.refused(only, message);
      for (const [index, reason] of reasons) {
        const element = rest[index];
        if (element !== undefined) options.refused(element, reason);
      }
      rest = reasons.size === 0 ? [] : rest.filter((_element, index) => !reasons.has(index));
    }
  }

  async function flush(): Promise<void> {
    const elements = batch;
    batch = [];
    bytes = 0;
    byKey = new Map();
    await deliver(elements);
  }

  return {
    flush,
    async add(element) {
      const earlier = byKey.get(element.key);
      if (earlier !== undefined && (element.kind === "tuple" || earlier === element.json)) {
        return "duplicate";
      }
      // An attribute that gets another value must get it in a later write, as the file says.
      const full = batch.length >= limits.elements || bytes + element.json.length > limits.bytes;
      if (earlier !== undefined || (full && batch.length > 0)) await flush();
      batch.push(element);
      bytes += element.json.length;
      byKey.set(element.key, element.json);
      return "added";
    },
  };
}
