/**
 * Statements as a migration: notes as comments, then all statements in one transaction. Statements have no
 * semicolons. A note may quote the name of a table, whose line breaks would end the comment.
 */
export function migrationText(notes: readonly string[], statements: readonly string[]): string {
  const transaction =
    statements.length === 0 ? [] : ["begin", ...statements, "commit"].map((text) => `${text};`);
  return [
    notes.map((note) => `-- ${note.replaceAll(/[\r\n]/g, " ")}`.trimEnd()).join("\n"),
    ...transaction,
  ].join("\n\n");
}
