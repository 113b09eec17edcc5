import type { Transport } from "../clients/client.ts";
import type { Measurement } from "../measure.ts";

/** What three instances come to. */
export interface DistributedSide extends Measurement {
  /** Part of the checks whose answer was in the cache of the instance that worked on them. */
  readonly hitRate: number;
  /** Part of the checks that were sent to another instance. */
  readonly sent: number;
  /** Part of these that the other one failed to answer, or not soon. */
  readonly unanswered: number;
  /** Of the database, for each check. */
  readonly statements: number;
  /** Processor time of the instances for each check. Only where there is a `/proc`. */
  readonly processorMicroseconds: number;
}

export interface ComparedInstances {
  readonly questions: string;
  /** How many different ones there are, and how many answers one instance keeps. */
  readonly population: number;
  readonly kept: number;
  readonly transport: Transport;
  readonly callers: number;
  readonly alone: DistributedSide;
  readonly shared: DistributedSide;
  /** Of the throughputs. */
  readonly ratio: number;
}
