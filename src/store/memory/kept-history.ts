import type { Revision } from "./revision.ts";

interface Reading {
  readonly atMs: number;
  readonly revision: Revision;
}

/** Which of the past states are kept: those from the horizon on. */
export class KeptHistory {
  /** Ascending in time and in revision. */
  #readings: readonly Reading[] = [];
  #horizon: Revision = 0;

  get horizon(): Revision {
    return this.#horizon;
  }

  /** Notes which state is the present one. */
  note(revision: Revision, nowMs: number): void {
    if (this.#readings.at(-1)?.revision === revision) return;
    this.#readings = [...this.#readings, { atMs: nowMs, revision }];
  }

  /** Gives up the states that had gone by at a time, as far as readings tell. */
  giveUp(beforeMs: number): void {
    const place = this.#readings.findLastIndex(({ atMs }) => atMs <= beforeMs);
    const reading = this.#readings[place];
    if (reading === undefined) return;
    this.#horizon = reading.revision;
    this.#readings = this.#readings.slice(place);
  }
}
