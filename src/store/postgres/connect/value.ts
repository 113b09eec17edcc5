/** Json goes as text with the cast `::text::jsonb`, an array as `arrayLiteral` with `::text[]`. */
export type ParameterValue = string | number | boolean | null;

/**
 * The text of a one-dimensional array, for a parameter with the cast `::text[]`. Every element is
 * quoted, so that no element can read as `NULL` or as a delimiter.
 */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
