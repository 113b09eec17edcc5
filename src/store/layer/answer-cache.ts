import { hash } from "node:crypto";

import { LRUCache } from "lru-cache";

import type { CheckAnswer } from "../store.ts";
import type { PresentAnswer } from "./present-question.ts";

/** How much may be kept. */
export interface AnswerCacheLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

/** What an entry takes beside the characters of its key, with its share of the index: measured. */
const entryBytes = 200;

/** How much of the memory is for tokens that came once. */
const onceShare = 0.1;

/** How much of the memory one lookup may take: it would push out thousands of checks. */
const lookupShare = 1 / 32;

/** With one of these in it, a text takes two bytes for each character. */
const wide = /[\u0100-\u{10FFFF}]/u;

/** What is kept: an answer, or the key of the state that a token names. */
type Kept = CheckAnswer | PresentAnswer | string;

/**
 * Answers by what they depend on, and tokens by their text, those that were used last. Tokens
 * that came once have a place of their own: however many they are, they push out nothing else.
 */
export class AnswerCache {
  readonly #kept: LRUCache<string, Kept>;
  readonly #once: LRUCache<string, true>;
  readonly #lookupBytesMax: number;

  constructor({ maxBytes, maxEntries }: AnswerCacheLimits) {
    this.#lookupBytesMax = maxBytes * lookupShare;
    // Rounded up, since 0 would be no bound.
    const keptBytes = Math.ceil(maxBytes * (1 - onceShare));
    const onceBytes = Math.ceil(maxBytes * onceShare);
    // No more than there is room for: places are taken when it is made, and cost bytes themselves.
    const placesIn = (bytes: number): number => Math.min(maxEntries, Math.ceil(bytes / entryBytes));
    this.#kept = new LRUCache({
      max: placesIn(keptBytes),
      maxSize: keptBytes,
      sizeCalculation: (kept, key) => entryBytes + bytesOf(key) + bytesOfKept(kept),
    });
    this.#once = new LRUCache({
      max: placesIn(onceBytes),
      maxSize: onceBytes,
      sizeCalculation: (_kept, key) => entryBytes + bytesOf(key),
    });
  }

  answer(key: string): CheckAnswer | undefined {
    const kept = this.#kept.get(key);
    return typeof kept === "object" && "allowed" in kept ? kept : undefined;
  }

  present(key: string): PresentAnswer | undefined {
    const kept = this.#kept.get(presentKey(key));
    return typeof kept === "object" && "position" in kept ? kept : undefined;
  }

  /** Keeps no lookup that would take too much of the memory. */
  keepPresent(key: string, answer: PresentAnswer): void {
    if (bytesOfKept(answer) <= this.#lookupBytesMax) this.#kept.set(presentKey(key), answer);
  }

  keepAnswer(key: string, answer: CheckAnswer): void {
    this.#kept.set(key, answer);
  }

  /** The state that a token names; undefined while that is not known. */
  state(token: string): string | undefined {
    const kept = this.#kept.get(digest(token));
    return typeof kept === "string" ? kept : undefined;
  }

  keepState(token: string, state: string): void {
    const key = digest(token);
    this.#once.delete(key);
    this.#kept.set(key, digest(state));
  }

  /** Whether a token was here before; asking counts as coming. */
  comesAgain(token: string): boolean {
    const key = digest(token);
    if (this.#once.get(key) === true) return true;
    this.#once.set(key, true);
    return false;
  }
}

/** Keys of pinned answers begin with a state, which is a digest. */
function presentKey(key: string): string {
  return `now ${key}`;
}

function bytesOfKept(kept: Kept): number {
  if (typeof kept === "string") return bytesOf(kept);
  return "ids" in kept ? bytesOf(kept.ids) + kept.snapToken.length : 0;
}

function bytesOf(text: string): number {
  return text.length * (wide.test(text) ? 2 : 1);
}

/** Tokens and states have no bound of their own, and are only compared. */
function digest(text: string): string {
  return hash("sha256", text, "base64");
}
