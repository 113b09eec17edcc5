/** So many texts are told apart; those that are run least make room. */
const textsMax = 256;

/** After so many statements each of them counts half, since what is asked changes. */
const fadeAfter = 4_096;

/** The part of all statements from which a text is one of those that are run most, and how many these are. */
const usualPart = 1 / 200;
const usualMax = 16;

/** Which texts the connections of a pool run again and again. */
export class StatementUse {
  #counts = new Map<string, number>();
  #total = 0;

  /** Counts a statement that is sent prepared. */
  count(text: string): void {
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
    this.#total += 1;
    if (this.#total >= fadeAfter || this.#counts.size > textsMax) this.#fade();
  }

  /** Those that are run most, the first of them most often. */
  get usual(): readonly string[] {
    return [...this.#counts]
      .filter(([, count]) => count >= this.#total * usualPart)
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, usualMax)
      .map(([text]) => text);
  }

  #fade(): void {
    const halves = [...this.#counts].map(([text, count]) => [text, count >> 1] as const);
    this.#counts = new Map(halves.filter(([, count]) => count > 0));
    this.#total = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }
}
