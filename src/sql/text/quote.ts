/** The text as a literal of SQL, whatever the server takes a backslash for. */
export function quotedText(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return text.includes("\\") ? `E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}

/** The text as a name in SQL, such as that of a schema. */
export function quotedName(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
