import type { Value } from "../connect/value.ts";

/** How long a change waits for a lock, as the statements take it. Undefined: as the server has it. */
export function lockWait(ms: number | undefined): Value {
  return ms === undefined ? null : `${ms}ms`;
}
