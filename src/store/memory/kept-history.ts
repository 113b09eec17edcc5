import type { Revision } from "./revision.ts";

interface TimedRevision {
  readonly atMs: number;
  readonly revision: Revision;
}

/** Past states are given up in so many parts, rather than one with each write. */
const parts = 16;

/** Which of the past states are kept: those from the horizon on. */
export class KeptHistory {
  readonly #leftMax: number;
  /** Ascending in time and in revision. */
  #readings: readonly TimedRevision[] = [];
  #horizon: Revision = 0;
  /** States between which a part of what may be left behind was. */
  #marks: readonly Revision[] = [];
  #leftSinceMark = 0;

  /** `leftMax`: how much may be kept that only past states need. */
  constructor(leftMax: number) {
    this.#leftMax = leftMax;
  }

  get horizon(): Revision {
    return this.#horizon;
  }

  /** Notes which state is the present one. */
  note(revision: Revision, nowMs: number): void {
    if (this.#readings.at(-1)?.revision === revision) return;
    this.#readings = [...this.#readings, { atMs: nowMs, revision }];
  }

  /** Gives up the states before a time, as far as readings show. */
  giveUp(beforeMs: number): void {
    const place = this.#readings.findLastIndex(({ atMs }) => atMs <= beforeMs);
    const reading = this.#readings[place];
    if (reading === undefined) return;
    this.#horizon = Math.max(this.#horizon, reading.revision);
    this.#readings = this.#readings.slice(place);
  }

  /**
   * Counts what a write left behind that only past states need. When that has become too much the
   * oldest states are given up; returns whether they were.
   */
  leave(count: number, revision: Revision): boolean {
    this.#leftSinceMark += count;
    if (this.#leftSinceMark < this.#leftMax / parts) return false;
    this.#leftSinceMark = 0;
    this.#marks = [...this.#marks, revision];
    const [oldest] = this.#marks;
    if (oldest === undefined || this.#marks.length <= parts) return false;
    this.#marks = this.#marks.slice(1);
    this.#horizon = Math.max(this.#horizon, oldest);
    return true;
  }
}
