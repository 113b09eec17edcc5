import { LRUCache } from "lru-cache";

import type { CheckAnswer } from "../store.ts";

/** How much may be kept. */
export interface AnswerCacheLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** What an entry takes beside the characters of its key, with its share of the index: measured. */
const entryBytes = 160;

/** With one of these in it, a text takes two bytes for each character. */
const wide = /[\u0100-\u{10FFFF}]/u;

/** Answers of checks by what they depend on, those that were used last. */
export class AnswerCache {
  readonly #answers: LRUCache<string, CheckAnswer>;

  constructor({ maxBytes, maxEntries }: AnswerCacheLimits) {
    this.#answers = new LRUCache({
      max: maxEntries,
      maxSize: maxBytes,
      sizeCalculation: (_answer, key) => entryBytes + key.length * (wide.test(key) ? 2 : 1),
    });
  }

  get(key: string): CheckAnswer | undefined {
    return this.#answers.get(key);
  }

  set(key: string, answer: CheckAnswer): void {
    this.#answers.set(key, answer);
  }
}
