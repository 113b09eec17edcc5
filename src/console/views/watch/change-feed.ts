import type { Static } from "typebox";

import type { watchAnswer } from "../../../http/shapes/watch.ts";
import { type ApiError, apiErrorOf, errorOfReply } from "../../api/api-error.ts";
import { open, tenantPath } from "../../api/send.ts";
import { Cell } from "../../app/cell.ts";
import { attributeFact, tupleFact } from "../data/fact.ts";

type ChangesMessage = Static<typeof watchAnswer>;
type WatchedChange = ChangesMessage["data_changes"]["changes"][number];

/** A change as a row shows it. */
export interface SeenChange {
  readonly id: number;
  readonly operation: WatchedChange["operation"];
  readonly text: string;
  /** When the page was told of it. */
  readonly at: Date;
}

export interface FeedState {
  /** Newest first. */
  readonly changes: readonly SeenChange[];
  readonly isOpen: boolean;
  readonly error: ApiError | undefined;
}

/** Older changes are forgotten beyond this many, so that a page that stays open does not grow. */
const changesMax = 10_000;

/** How gRPC numbers UNAVAILABLE, as errors within a stream have it. */
const unavailable = 14;

/** A stream that breaks is opened again after this many milliseconds. */
const pauseMs = 1_000;

/** Whether the stream may open again by itself after the error. */
export function isPassing({ status }: ApiError): boolean {
  return status === 0 || (status >= 500 && status !== 501);
}

/** The stream of changes of a tenant. A new connection goes on where the last one ended. */
export class ChangeFeed {
  readonly state = new Cell<FeedState>({ changes: [], isOpen: false, error: undefined });
  readonly #tenant: string;
  #snapToken = "";
  #lastId = 0;
  #again: (() => void) | undefined;

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  /** Reads changes until the signal is aborted. */
  follow(signal: AbortSignal): void {
    void this.#followAll(signal).finally(() => this.#patch({ isOpen: false }));
  }

  clear(): void {
    this.#patch({ changes: [] });
  }

  /** Tries again after an error that does not pass by itself, from the present state on. */
  retry(): void {
    this.#snapToken = "";
    this.#patch({ error: undefined });
    this.#again?.();
  }

  async #followAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#followOne(signal);
      } catch (error) {
        if (signal.aborted) return;
        const known = apiErrorOf(error);
        const passes = isPassing(known);
        if (!passes || this.state.value.changes.length === 0) this.#patch({ error: known });
        if (!passes) await this.#untilRetry(signal);
      }
      this.#patch({ isOpen: false });
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #followOne(signal: AbortSignal): Promise<void> {
    const path = tenantPath(this.#tenant, "watch");
    const body = { snap_token: this.#snapToken };
    const response = await open({ method: "POST", path, body, signal });
    this.#patch({ isOpen: true, error: undefined });
    for await (const line of linesOf(response)) this.#take(line);
  }

  #take(line: string): void {
    const message = JSON.parse(line) as ChangesMessage | { readonly error: object };
    if ("error" in message) {
      const passes = "code" in message.error && message.error.code === unavailable;
      throw errorOfReply(passes ? 503 : 400, JSON.stringify(message.error));
    }
    this.#snapToken = message.snap_token;
    const at = new Date();
    const fresh = message.data_changes.changes.map((change): SeenChange => {
      const fact = "tuple" in change ? tupleFact(change.tuple) : attributeFact(change.attribute);
      return { id: ++this.#lastId, operation: change.operation, text: fact.text, at };
    });
    const changes = [...fresh.toReversed(), ...this.state.value.changes].slice(0, changesMax);
    this.#patch({ changes });
  }

  async #untilRetry(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#again = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #patch(change: Partial<FeedState>): void {
    this.state.set({ ...this.state.value, ...change });
  }
}

/** The lines of an answer as they come. */
async function* linesOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) return;
    const lines = `${rest}${chunk.value}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
}
