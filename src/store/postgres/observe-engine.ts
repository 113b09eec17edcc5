import type { Telemetry } from "../../base/telemetry.ts";
import { StreamLags, observeStreams } from "../change-streams.ts";
import { type CompiledSchemas, observeSchemas } from "../compiled-schemas.ts";
import type { CircuitBreaker } from "./connect/circuit-breaker.ts";
import type { Database } from "./connect/database.ts";
import type { ReplicatedReads } from "./replicas/replicated-reads.ts";

/** Reports the parts of an engine. The result counts its streams of changes. */
export function observeEngine(
  telemetry: Telemetry,
  parts: {
    readonly database: Database;
    readonly maxConnections: number;
    readonly circuit: CircuitBreaker | undefined;
    readonly replicated: ReplicatedReads | undefined;
    readonly schemas: CompiledSchemas;
  },
): StreamLags {
  const lags = new StreamLags();
  observeDatabase(telemetry, parts);
  observeSchemas(telemetry, parts.schemas);
  observeStreams(telemetry, lags);
  if (parts.replicated !== undefined) observeReplicas(telemetry, parts.replicated);
  return lags;
}

/** Reports the connections of a database, with their maximum, and its circuit. */
function observeDatabase(
  { observe }: Pick<Telemetry, "observe">,
  parts: {
    readonly database: Database;
    readonly maxConnections: number;
    readonly circuit: CircuitBreaker | undefined;
  },
): void {
  const { database, maxConnections, circuit } = parts;
  const only = (value: number) => [{ value, labels: {} }];
  observe("db.client.connection.count", () => {
    const { busy, idle, opening } = database.pool;
    return [
      { value: busy, labels: { "db.client.connection.state": "used" } },
      { value: idle, labels: { "db.client.connection.state": "idle" } },
      { value: opening, labels: { "db.client.connection.state": "opening" } },
    ];
  });
  observe("db.client.connection.max", () => only(maxConnections));
  observe("db.client.connection.pending_requests", () => only(database.pool.waiting));
  observe("db.client.connection.waits", () => only(database.pool.waited));
  observe("db.client.connection.wait_time", () => only(database.pool.waitedMs / 1_000));
  if (circuit === undefined) return;
  observe("db.client.circuit.open", () => only(circuit.state === "open" ? 1 : 0));
}

/** Reports of each replica whether it is asked and how far it is behind. */
function observeReplicas({ observe }: Pick<Telemetry, "observe">, reads: ReplicatedReads): void {
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
