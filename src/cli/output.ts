/** Writes the result of a command. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes the problems, one line each, and returns the exit status. */
export function complain(...problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`pemba: ${problem}\n`);
  return 1;
}

/** Writes a warning. */
export function warn(text: string): void {
  process.stderr.write(`pemba: warning: ${text}\n`);
}

/** A problem for each unexpected word. */
export function surplus(command: string, words: readonly string[]): readonly string[] {
  return words.map((word) => `${command}: \`${word}\` is not understood`);
}

/** The message of an error for a user: one line without the code, with the causes. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An AggregateError, for several tried addresses, has no message of its own.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const { message } = inner instanceof Error ? inner : error;
  const text = message.replace(/^ERROR_CODE_\w+: /, "").replaceAll(/\s*\n\s*/g, ", ");
  if (error.cause === undefined) return text;
  const cause = messageOf(error.cause);
  return text.includes(cause) ? text : `${text}: ${cause}`;
}
