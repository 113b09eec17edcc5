import type { TrialOptions } from "./cases.ts";

/** What a worker is started with. */
export interface WorkerOptions extends TrialOptions {
  /** The file of what Postgres has been told, which outlives a worker. */
  readonly told: string;
}

/** What a worker is asked to do. */
export type Order =
  | { readonly kind: "sound"; readonly trial: number }
  | { readonly kind: "mutant"; readonly mutant: number; readonly trials: readonly number[] }
  | { readonly kind: "end" };

/** What a worker tells. */
export type Report =
  /** `reached`: faults of code that runs when it is loaded. */
  | { readonly kind: "ready"; readonly reached: readonly number[] }
  | {
      readonly kind: "sound";
      readonly trial: number;
      readonly ms: number;
      readonly fault: string | undefined;
      readonly reached: readonly number[];
    }
  | { readonly kind: "begun"; readonly trial: number }
  | {
      readonly kind: "killed";
      readonly trial: number;
      readonly fault: string;
      readonly isSoundAgain: boolean;
    }
  | { readonly kind: "survived" };
