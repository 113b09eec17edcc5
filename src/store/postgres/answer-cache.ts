import { LRUCache } from "lru-cache";

import type { CheckAnswer } from "../store.ts";

/** How much may be kept. */
export interface AnswerCacheLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** What an entry takes beside the characters of its key: measured, with its share of the index. */
const entryBytes = 320;

/** Answers of checks by what they depend on, those that were used last. */
export class AnswerCache {
  readonly #answers: LRUCache<string, CheckAnswer>;

  constructor({ maxBytes, maxEntries }: AnswerCacheLimits) {
    this.#answers = new LRUCache({
      max: maxEntries,
      maxSize: maxBytes,
      // A character takes two bytes once one of the key is not of Latin 1.
      sizeCalculation: (_answer, key) => entryBytes + key.length * 2,
    });
  }

  get(key: string): CheckAnswer | undefined {
    return this.#answers.get(key);
  }

  set(key: string, answer: CheckAnswer): void {
    this.#answers.set(key, answer);
  }
}
