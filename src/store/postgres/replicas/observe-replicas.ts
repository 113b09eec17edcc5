import type { Telemetry } from "../../../base/telemetry.ts";
import type { ReplicatedReads } from "./replicated-reads.ts";

/** Has the replicas told: whether they are asked, and how far they are behind. */
export function observeReplicas(
  { observe }: Pick<Telemetry, "observe">,
  reads: ReplicatedReads,
): void {
  observe("db.client.replica.used", () =>
    reads.states.map(({ isUsed }, index) => ({
      value: isUsed ? 1 : 0,
      labels: { replica: String(index) },
    })),
  );
  observe("db.client.replica.lag", () =>
    reads.states.flatMap(({ lagMs }, index) =>
      lagMs === undefined ? [] : [{ value: lagMs / 1_000, labels: { replica: String(index) } }],
    ),
  );
}
