/** Writes what the user asked for. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Tells what is wrong, a line each, and gives the exit status for it. */
export function complain(...problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`pemba: ${problem}\n`);
  return 1;
}

/** The sentence of an error that is shown to a user, without the lines of its stack. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Errors of several addresses that were tried have no text of their own.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return (inner instanceof Error ? inner.message : error.message).replaceAll(/\s*\n\s*/g, ", ");
}
