import type { Telemetry } from "../../../base/telemetry.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Database } from "./database.ts";

/** Has the connections of a database told, of which there may be so many, and its circuit. */
export function observeDatabase(
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
