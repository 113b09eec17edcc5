import { assert } from "../../../base/assert.ts";

interface Count {
  readonly rows: bigint;
  /** The sum of the digests of the rows. */
  readonly sum: bigint;
}

const none: Count = { rows: 0n, sum: 0n };

/**
 * Rows of a tenant by label (the type with a relation or an attribute): how many, and the sum of their
 * digests. Two sides have the same rows if their tallies are equal, in any order of the rows.
 */
export class RowTally {
  readonly #counts = new Map<string, Count>();

  /** @param text json as the statements return it: arrays of label, number of rows and sum */
  add(text: string): void {
    this.#apply(text, 1n);
  }

  subtract(text: string): void {
    this.#apply(text, -1n);
  }

  /** The labels of which the two have different rows. */
  differencesFrom(other: RowTally): readonly string[] {
    const labels = new Set([...this.#counts.keys(), ...other.#counts.keys()]);
    return [...labels]
      .filter((label) => {
        const [here, there] = [this.#of(label), other.#of(label)];
        return here.rows !== there.rows || here.sum !== there.sum;
      })
      .toSorted();
  }

  #of(label: string): Count {
    return this.#counts.get(label) ?? none;
  }

  #apply(text: string, sign: bigint): void {
    const lines: unknown = JSON.parse(text);
    assert(Array.isArray(lines), "a tally is a list");
    for (const line of lines) {
      const [label, rows, sum] = partsOf(line);
      const former = this.#of(label);
      this.#counts.set(label, {
        rows: former.rows + sign * BigInt(rows),
        sum: former.sum + sign * BigInt(sum),
      });
    }
  }
}

function partsOf(line: unknown): readonly [label: string, rows: number, sum: string] {
  assert(Array.isArray(line), "a line of a tally is a list");
  const [label, rows, sum]: unknown[] = line;
  assert(typeof label === "string", "a label is text");
  assert(typeof rows === "number" && typeof sum === "string", "counts are numbers");
  return [label, rows, sum];
}
