/** What is wrong with how a server answered, once for each kind of it. */
export class Findings {
  readonly #kinds = new Map<string, { readonly shown: string; count: number }>();

  /** `kind` says what was asked and what is wrong; `shown` is the first that it was found by. */
  add(kind: string, shown: string): void {
    const known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, { shown, count: 1 });
    else known.count += 1;
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** A line for each kind, with its first example. */
  lines(): readonly string[] {
    return [...this.#kinds].map(([kind, { shown, count }]) => `FAULT ${kind} (${count}): ${shown}`);
  }
}
