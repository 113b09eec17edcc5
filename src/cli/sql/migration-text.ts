/**
 * Statements as a migration: notes as comments, then all statements in one transaction. Notes have no
 * line breaks; statements have no semicolons.
 */
export function migrationText(notes: readonly string[], statements: readonly string[]): string {
  const transaction =
    statements.length === 0 ? [] : ["begin", ...statements, "commit"].map((text) => `${text};`);
  return [notes.map((note) => `-- ${note}`.trimEnd()).join("\n"), ...transaction].join("\n\n");
}
