/** From a first line to a last one, both included. */
interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** The lines of several ranges. */
export class LineSet {
  /** Apart from each other, ascending. */
  readonly #ranges: readonly LineRange[];

  constructor(ranges: Iterable<LineRange>) {
    const apart: LineRange[] = [];
    for (const range of [...ranges].toSorted((one, other) => one.from - other.from)) {
      const last = apart.at(-1);
      if (last === undefined || last.to < range.from) apart.push(range);
      else if (last.to < range.to) apart[apart.length - 1] = { from: last.from, to: range.to };
    }
    this.#ranges = apart;
  }

  /** Whether one of the lines is from `from` to `to`. */
  meets({ from, to }: LineRange): boolean {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.to ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return (this.#ranges[low]?.from ?? Infinity) <= to;
  }
}
