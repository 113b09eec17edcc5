import type { Telemetry } from "../../base/telemetry.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import { observeSchemas } from "../observe-schemas.ts";
import { observeStreams, StreamLags } from "../stream-lags.ts";
import type { CircuitBreaker } from "./connect/circuit-breaker.ts";
import type { Database } from "./connect/database.ts";
import { observeDatabase } from "./connect/observe-database.ts";
import { observeReplicas } from "./replicas/observe-replicas.ts";
import type { ReplicatedReads } from "./replicas/replicated-reads.ts";

/** Has the parts of an engine told. Returns who is to be told of its streams of changes. */
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
