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
  /** The place of the first element that is not known to be written or refused, if there is one. */
  firstUnsent(): LinePosition | undefined;
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
  let sending: readonly Element[] = [];
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
      if (outcome.reasons.size === 0 && rest.length > 1) {
        const middle = Math.ceil(rest.length / 2);
        await deliver(rest.slice(0, middle));
        rest = rest.slice(middle);
        continue;
      }
      const { refused, again } = afterRefusal(rest, outcome);
      for (const refusal of refused) held.add(refusal);
      rest = again;
    }
  }

  async function flush(): Promise<void> {
    sending = batch;
    batch = [];
    bytes = 0;
    byKey = new Map();
    try {
      await deliver(sending);
      sending = [];
    } finally {
      for (const refusal of held.take()) options.refused(refusal);
    }
  }

  return {
    flush,
    firstUnsent: () => (sending[0] ?? batch[0])?.place,
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

/** What is refused of a batch: the elements with reasons, or all if none has one. The rest is sent again. */
function afterRefusal(
  batch: readonly Element[],
  { reasons, message }: Extract<WriteOutcome, { readonly kind: "refused" }>,
): { readonly refused: readonly RefusedLine[]; readonly again: readonly Element[] } {
  if (reasons.size === 0) {
    return { refused: batch.map(({ place }) => ({ place, reason: message })), again: [] };
  }
  return {
    refused: batch.flatMap(({ place }, index) => {
      const reason = reasons.get(index);
      return reason === undefined ? [] : [{ place, reason }];
    }),
    again: batch.filter((_element, index) => !reasons.has(index)),
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
