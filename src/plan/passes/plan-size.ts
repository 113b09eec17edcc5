import { planMax } from "../limit.ts";

/** How much a plan has of each part that `planMax` bounds. */
export type PlanSize = Readonly<Record<keyof typeof planMax, number>>;

/** Thrown when a plan passes its bounds, and caught by `unfold`. */
export class TooLarge extends Error {}

/** Counts the parts of a plan while it is unfolded. Throws TooLarge past a bound. */
export class PlanCounter {
  readonly #size = { states: 0, branches: 0, guards: 0, names: 0, visits: 0, leaves: 0 };

  /** The size so far. */
  get size(): PlanSize {
    return { ...this.#size };
  }

  /** Counts more of a part. */
  add(part: "states" | "branches" | "visits" | "leaves", count: number): void {
    this.#size[part] += count;
    if (this.#size[part] > planMax[part]) throw new TooLarge();
  }

  /** Notes one of several counts of a part, of which the largest is bounded. */
  note(part: "guards" | "names", count: number): void {
    if (count > this.#size[part]) this.#size[part] = count;
    if (count > planMax[part]) throw new TooLarge();
  }
}
