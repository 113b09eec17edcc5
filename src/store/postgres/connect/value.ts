/** Json goes as text with the cast `::text::jsonb`, an array as `arrayLiteral` with `::text[]`. */
export type ParameterValue = string | number | boolean | null;

/**
 * The text of a one-dimensional array, for a parameter with the cast `::text[]`. Every element is
 * quoted, so that no element can read as `NULL` or as a delimiter.
 */
export function arrayLiteral(values: readonly string[]): string {
  return values.length === 0 ? "{}" : `{"${values.map(escaped).join('","')}"}`;
}

/** Few values have such characters, and looking for each is faster than a search by a pattern. */
function escaped(value: string): string {
  const isPlain = !value.includes('"') && !value.includes("\\");
  return isPlain ? value : value.replaceAll(/["\\]/g, "\\$&");
}
