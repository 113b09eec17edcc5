import type { WriteOutcome } from "./import-client.ts";
import type { Element, LinePosition } from "./import-line.ts";

export interface BatchLimits {
  readonly elements: number;
  /** The size of its JSON in bytes, to keep requests below the server's limit. */
  readonly bytes: number;
}

/** A line that is not written, with the reason. */
export interface RefusedLine {
  readonly place: LinePosition;
  readonly reason: string;
}

export interface BatchWriter {
  /** Adds the element, unless the batch has it already. May send the batch. */
  add(element: Element): Promise<"added" | "duplicate">;
  /** Adds a line that cannot be sent. It is reported in the order of lines. May send the batch. */
  refuse(refusal: RefusedLine): Promise<void>;
  /** Sends the rest. */
  flush(): Promise<void>;
}

/**
 * Collects elements and sends them in batches. After a refusal, the elements that the answer names
 * are refused and the rest is sent again. If it names none, each half is sent alone. Refusals are
 * reported when the batch is done, in the order of the lines.
 */
export function batchWriter(options: {
  readonly limits: BatchLimits;
  send(batch: readonly Element[]): Promise<WriteOutcome>;
  accepted(count: number): void;
  refused(refusal: RefusedLine): void;
}): BatchWriter {
  const { limits } = options;
  let batch: Element[] = [];
  let bytes = 0;
  let byKey = new Map<string, string>();
  const held = heldRefusals();

  async function deliver(elements: readonly Element[]): Promise<void> {
    let rest = elements;
    while (rest.length > 0) {
      const outcome = await options.send(rest);
      if (outcome.kind === "accepted") {
        options.accepted(rest.length);
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
      if (reasons.size === 0 && only !== undefined)
        held.add({ place: only.place, reason: message });
      for (const [index, reason] of reasons) {
        const element = rest[index];
        if (element !== undefined) held.add({ place: element.place, reason });
      }
      rest = reasons.size === 0 ? [] : rest.filter((_element, index) => !reasons.has(index));
    }
  }

  async function flush(): Promise<void> {
    const elements = batch;
    batch = [];
    bytes = 0;
    byKey = new Map();
    try {
      await deliver(elements);
    } finally {
      for (const refusal of held.take()) options.refused(refusal);
    }
  }

  return {
    flush,
    async refuse(refusal) {
      held.came(refusal.place);
      held.add(refusal);
      if (batch.length === 0 || held.count() >= limits.elements) await flush();
    },
    async add(element) {
      const earlier = byKey.get(element.key);
      if (earlier !== undefined && (element.kind === "tuple" || earlier === element.json)) {
        return "duplicate";
      }
      // A new value for the same attribute needs a later write, to keep the order of the file.
      const full = batch.length >= limits.elements || bytes + element.json.length > limits.bytes;
      if (earlier !== undefined || (full && batch.length > 0)) await flush();
      batch.push(element);
      held.came(element.place);
      bytes += element.json.length;
      byKey.set(element.key, element.json);
      return "added";
    },
  };
}

interface HeldRefusals {
  came(place: LinePosition): void;
  add(refusal: RefusedLine): void;
  count(): number;
  /** Returns them all in the order of their lines, and starts again. */
  take(): readonly RefusedLine[];
}

function heldRefusals(): HeldRefusals {
  let order = new Map<LinePosition, number>();
  let refusals: RefusedLine[] = [];
  return {
    came: (place) => void order.set(place, order.size),
    add: (refusal) => void refusals.push(refusal),
    count: () => refusals.length,
    take: () => {
      const rankOf = ({ place }: RefusedLine): number => order.get(place) ?? 0;
      const sorted = refusals.toSorted((one, other) => rankOf(one) - rankOf(other));
      refusals = [];
      order = new Map();
      return sorted;
    },
  };
}
