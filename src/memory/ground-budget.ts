import { groundMax } from "../plan/limit.ts";

/**
 * What the questions of one request may still ground, counted in nodes and in the hops between them:
 * each of them may be within its bound and all of them together too much.
 */
export class GroundBudget {
  #left: number = groundMax.request;

  /** False when it is used up. */
  spend(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}
