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
const entryBytes = 250;

/** How much of the memory is for tokens that came once. */
const onceShare = 0.1;

/** How much of the memory one lookup may take: it would push out thousands of checks. */
const lookupShare = 1 / 32;

/** How likely a new entry takes the place of one that may be asked for again. */
const admittedShare = 1 / 8;

/** An entry is unlikely to be asked for again if more than so many questions for each entry came since its last use. */
const idleQuestionsMax = 2;

/** With one of these in it, a text takes two bytes for each character. */
const wide = /[\u0100-\u{10FFFF}]/u;

/** What is kept: an answer, or the key of the state that a token names. */
type Kept = CheckAnswer | PresentAnswer | string;

interface Entry {
  readonly kept: Kept;
  /** How many questions had come when it was asked for the last time. */
  usedAt: number;
}

/**
 * Answers by what they depend on, and tokens by their text. Tokens that came once have a place of their
 * own: however many they are, they push out nothing else.
 *
 * When there is no room, the entry that was used longest ago goes, but not for each new one. Otherwise
 * questions that come in a circle, more of them than there is room for, would push out each other, each just
 * before it comes again. An entry that is unlikely to be asked for again goes at once, so this helps up to twice as many
 * questions.
 */
export class AnswerCache {
  readonly #kept: LRUCache<string, Entry>;
  readonly #once: LRUCache<string, true>;
  readonly #lookupBytesMax: number;
  #asked = 0;

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
      sizeCalculation: ({ kept }, key) => bytesOfEntry(key, kept),
    });
    this.#once = new LRUCache({
      max: placesIn(onceBytes),
      maxSize: onceBytes,
      sizeCalculation: (_kept, key) => entryBytes + bytesOf(key),
    });
  }

  answer(key: string): CheckAnswer | undefined {
    const kept = this.#used(key);
    return typeof kept === "object" && "allowed" in kept ? kept : undefined;
  }

  present(key: string): PresentAnswer | undefined {
    const kept = this.#used(presentKey(key));
    return typeof kept === "object" && "position" in kept ? kept : undefined;
  }

  /** Keeps no lookup that would take too much of the memory. */
  keepPresent(key: string, answer: PresentAnswer): void {
    if (bytesOfKept(answer) <= this.#lookupBytesMax) this.#keep(presentKey(key), answer);
  }

  keepAnswer(key: string, answer: CheckAnswer): void {
    this.#keep(key, answer);
  }

  /** The state that a token names; undefined while that is not known. */
  state(token: string): string | undefined {
    const kept = this.#found(digest(token));
    return typeof kept === "string" ? kept : undefined;
  }

  keepState(token: string, state: string): void {
    const key = digest(token);
    this.#once.delete(key);
    // There is one for all questions at the token, each of which would ask for it anew.
    this.#kept.set(key, { kept: digest(state), usedAt: this.#asked });
  }

  /** Whether a token was here before; asking counts as coming. */
  comesAgain(token: string): boolean {
    const key = digest(token);
    if (this.#once.get(key) === true) return true;
    this.#once.set(key, true);
    return false;
  }

  #used(key: string): Kept | undefined {
    this.#asked += 1;
    return this.#found(key);
  }

  #found(key: string): Kept | undefined {
    const entry = this.#kept.get(key);
    if (entry !== undefined) entry.usedAt = this.#asked;
    return entry?.kept;
  }

  #keep(key: string, kept: Kept): void {
    if (this.#kept.has(key) || this.#admits(bytesOfEntry(key, kept)))
      this.#kept.set(key, { kept, usedAt: this.#asked });
  }

  /** Whether there is room for one more, or the entry that would go for it is to go. */
  #admits(bytes: number): boolean {
    const { size, max, calculatedSize, maxSize } = this.#kept;
    if (size < max && calculatedSize + bytes <= maxSize) return true;
    const [next] = this.#kept.rvalues();
    const isIdle = next === undefined || this.#asked - next.usedAt > idleQuestionsMax * size;
    return isIdle || Math.random() < admittedShare;
  }
}

/** Keys of pinned answers begin with a state, which is a digest. */
function presentKey(key: string): string {
  return `now ${key}`;
}

function bytesOfEntry(key: string, kept: Kept): number {
  return entryBytes + bytesOf(key) + bytesOfKept(kept);
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
