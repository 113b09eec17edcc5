import type { NamedTenant } from "../base/tuple.ts";
import type { Config } from "../config/options.ts";
import type { SharedName } from "../intake/intake.ts";
import type { ProcessMeasures } from "../telemetry/combine-measures.ts";
import type { WorkerPlace } from "./divide-limits.ts";

/** What a worker is to do, told once. */
export interface WorkerOrder extends WorkerPlace {
  /** Of the whole instance. */
  readonly config: Config;
  /** Names the instance to other instances. All its workers have the same. */
  readonly instance: string;
  /**
   * Whether it listens before its store is open. Else no request comes to a worker that is not ready,
   * because other workers listen.
   */
  readonly listensAtOnce: boolean;
  /** Whether its log has the lines about its start: those of all workers are the same. */
  readonly tellsStart: boolean;
}

/** A part of a limit of the instance that a worker borrows. */
export interface Loan {
  readonly resource: SharedName;
  /** Whose limit it is. What belongs to no tenant has a limit like a tenant. */
  readonly of: LoanOf;
}

export type LoanOf =
  | { readonly kind: "tenant"; readonly tenant: NamedTenant | undefined }
  | { readonly kind: "all" };

/** What the supervisor tells a worker. */
export type ToWorker =
  | { readonly kind: "begin"; readonly order: WorkerOrder }
  | { readonly kind: "stop"; readonly signal: string }
  /** The answer to a question of this id: how much there is. */
  | { readonly kind: "granted"; readonly id: number; readonly amount: number }
  /** Asks whether its event loop turns. */
  | { readonly kind: "ask_alive" }
  /** Asks for what the worker has measured. */
  | { readonly kind: "measure"; readonly id: number }
  /** Another worker needs it: what is not held of it is to be given back. */
  | { readonly kind: "recall"; readonly loan: Loan };

/** What a worker tells the supervisor. */
export type FromWorker =
  /** It hears messages from now on. Those that came before are lost. */
  | { readonly kind: "hears" }
  | { readonly kind: "ready" }
  | { readonly kind: "alive" }
  /** Asks for tokens of the rate limit. They are used up. */
  | { readonly kind: "tokens"; readonly id: number; readonly most: number }
  | {
      readonly kind: "borrow";
      readonly id: number;
      readonly loan: Loan;
      readonly least: number;
      readonly most: number;
    }
  /** The answer to a question of this id. Undefined: the last measures of a worker that ends. */
  | {
      readonly kind: "measured";
      readonly id: number | undefined;
      readonly measures: ProcessMeasures;
    }
  | { readonly kind: "give_back"; readonly loan: Loan; readonly amount: number };

const toWorker: ReadonlySet<unknown> = new Set<ToWorker["kind"]>([
  "begin",
  "stop",
  "granted",
  "ask_alive",
  "measure",
  "recall",
]);
const fromWorker: ReadonlySet<unknown> = new Set<FromWorker["kind"]>([
  "hears",
  "ready",
  "alive",
  "tokens",
  "borrow",
  "measured",
  "give_back",
]);

/** Whether the supervisor sent it, and not a package in that process. */
export function isToWorker(value: unknown): value is ToWorker {
  return toWorker.has(kindOf(value));
}

/** Whether a worker sent it, and not a package in its process. */
export function isFromWorker(value: unknown): value is FromWorker {
  return fromWorker.has(kindOf(value));
}

function kindOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
}
