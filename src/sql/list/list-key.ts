/**
 * SQL types of a key, and the value of a key with the text `id`; null for a text that no key has. The
 * text is converted and not the column, so that an index on the column serves. A text of another form
 * must not fail: not every entity has a row.
 */
const conversions: Readonly<Record<string, (id: string) => string>> = {
  text: (id) => id,
  "character varying": (id) => `${id}::character varying`,
  uuid: (id) =>
    `case when ${id} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then ${id}::uuid end`,
  smallint: whole("smallint", "-32768", "32767"),
  integer: whole("integer", "-2147483648", "2147483647"),
  bigint: whole("bigint", "-9223372036854775808", "9223372036854775807"),
};

/** The types that a key may have. */
export const keyTypes: readonly string[] = Object.keys(conversions);

/** The value of a key of a type, from an SQL expression of its text. Undefined for other types. */
export function keyOf(type: string, id: string): string | undefined {
  return conversions[type]?.(id);
}

function whole(type: string, least: string, most: string): (id: string) => string {
  return (id) =>
    `case when ${id} ~ '^(0|-?[1-9][0-9]{0,18})$' then ` +
    `case when ${id}::numeric between ${least} and ${most} then ${id}::${type} end end`;
}
