/*
 * What statements take of the memory of the server, at most, as it was measured on those of random
 * schemas with their generic plans: a plan that is kept takes 60 to 150 bytes for each character of the
 * text, 105 on the whole. Planning takes some 700 for each, which the process reuses and does not
 * give back.
 */
const keptBytes = 20_000;
const keptBytesOfCharacter = 140;
const plannedBytesOfCharacter = 800;

/** That the statements of one connection may take, above what it has at its start. */
export const statementBytesMax = 48 << 20;

/** One whose statements take so much is to be replaced before it is full. */
const nearlyFullBytes = (statementBytesMax * 3) / 4;

/** That what is prepared ahead may take of it. */
const aheadBytesMax = statementBytesMax / 3;

/** What one connection has prepared, and how much of the server all that it has run takes at most. */
export class StatementMemory {
  readonly #prepared = new Set<string>();
  #keptBytes = 0;
  #longest = 0;
  #hasRefused = false;

  /** It is about time for another connection. */
  get isNearlyFull(): boolean {
    return this.#hasRefused || bytesOf(this.#keptBytes, this.#longest) >= nearlyFullBytes;
  }

  hasPrepared(text: string): boolean {
    return this.#prepared.has(text);
  }

  /** Whether a text may be prepared before it is run: most of the room is for those that come. */
  hasRoomAhead(text: string): boolean {
    const longest = Math.max(this.#longest, text.length);
    return bytesOf(this.#keptBytes + keptBytesOf(text), longest) <= aheadBytesMax;
  }

  /** Counts a text that is run, and says whether it is prepared: when that is worth it and has room. */
  run(text: string, isWorthPreparing: boolean): boolean {
    this.#longest = Math.max(this.#longest, text.length);
    if (!isWorthPreparing) return false;
    if (this.#prepared.has(text)) return true;
    const kept = keptBytesOf(text);
    // One that no connection has room for is planned each time.
    if (bytesOf(kept, text.length) > statementBytesMax) return false;
    if (bytesOf(this.#keptBytes + kept, this.#longest) > statementBytesMax) {
      this.#hasRefused = true;
      return false;
    }
    this.#prepared.add(text);
    this.#keptBytes += kept;
    return true;
  }
}

function keptBytesOf(text: string): number {
  return keptBytes + text.length * keptBytesOfCharacter;
}

function bytesOf(kept: number, longest: number): number {
  return kept + longest * plannedBytesOfCharacter;
}
