import type { Telemetry } from "../base/telemetry.ts";
import type { CompiledSchemas } from "./compiled-schemas.ts";

/** Has the cache of schemas told. */
export function observeSchemas(
  { observe }: Pick<Telemetry, "observe">,
  schemas: Pick<CompiledSchemas, "state">,
): void {
  observe("pemba.schema.cache.hits", () => [{ value: schemas.state.hits, labels: {} }]);
  observe("pemba.schema.cache.misses", () => [{ value: schemas.state.misses, labels: {} }]);
  observe("pemba.schema.cache.entries", () => [{ value: schemas.state.entries, labels: {} }]);
  observe("pemba.schema.cache.size", () => [{ value: schemas.state.bytes, labels: {} }]);
}
