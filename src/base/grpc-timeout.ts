/** The format of gRPC: at most eight digits and a unit. */
export const timeoutPattern = /^(\d{1,8})([HMSmun])$/;

const unitsMs: ReadonlyMap<string, number> = new Map([
  ["H", 3_600_000],
  ["M", 60_000],
  ["S", 1_000],
  ["m", 1],
  ["u", 1 / 1_000],
  ["n", 1 / 1_000_000],
]);

/**
 * The time in a header `Grpc-Timeout`, in milliseconds; undefined if it has another format. It may be longer
 * than a timer can wait.
 */
export function parseTimeout(text: string): number | undefined {
  const [, digits, unit = ""] = timeoutPattern.exec(text) ?? [];
  const unitMs = unitsMs.get(unit);
  return digits === undefined || unitMs === undefined ? undefined : Number(digits) * unitMs;
}
