import { hash } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { CheckAnswer } from "../../store.ts";

/** How much may be kept. */
export interface AnswerCacheLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** What an entry takes beside the characters of its key, with its share of the index: measured. */
const entryBytes = 160;

/** With one of these in it, a text takes two bytes for each character. */
const wide = /[\u0100-\u{10FFFF}]/u;

/** What is kept: the answer of a check, or the key of the state that a token names. */
type Kept = CheckAnswer | string;

/** Answers of checks by what they depend on, and tokens by their text, those that were used last. */
export class AnswerCache {
  readonly #kept: LRUCache<string, Kept>;

  constructor({ maxBytes, maxEntries }: AnswerCacheLimits) {
    this.#kept = new LRUCache({
      max: maxEntries,
      maxSize: maxBytes,
      sizeCalculation: (kept, key) =>
        entryBytes + bytesOf(key) + (typeof kept === "string" ? bytesOf(kept) : 0),
    });
  }

  answer(key: string): CheckAnswer | undefined {
    const kept = this.#kept.get(key);
    return typeof kept === "string" ? undefined : kept;
  }

  keepAnswer(key: string, answer: CheckAnswer): void {
    this.#kept.set(key, answer);
  }

  /** The state that a token names; "" while that is not known of a token that came before. */
  state(token: string): string | undefined {
    const kept = this.#kept.get(digest(token));
    return typeof kept === "string" ? kept : undefined;
  }

  keepState(token: string, state: string): void {
    this.#kept.set(digest(token), state === "" ? "" : digest(state));
  }
}

function bytesOf(text: string): number {
  return text.length * (wide.test(text) ? 2 : 1);
}

/** Tokens and states have no bound of their own, and are only compared. */
function digest(text: string): string {
  return hash("sha256", text, "base64");
}
