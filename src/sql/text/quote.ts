/** The text as a literal of SQL, the same for all settings of `standard_conforming_strings`. */
export function quotedText(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return text.includes("\\") ? `E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}

/** The text as a name in SQL, such as that of a schema. */
export function quotedName(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** The text between dollar quotes that it does not have. The name stands in them. */
export function dollarQuoted(text: string, name: string): string {
  let tag = `$${name}$`;
  for (let number = 1; text.includes(tag); number += 1) tag = `$${name}${number}$`;
  return `${tag}\n${text}\n${tag}`;
}
