/** Writes what the user asked for. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Tells what is wrong, a line each, and gives the exit status for it. */
export function complain(...problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`pemba: ${problem}\n`);
  return 1;
}

/** Tells what is doubtful, and goes on. */
export function warn(text: string): void {
  process.stderr.write(`pemba: warning: ${text}\n`);
}

/** A problem for each word that the command has no use for. */
export function surplus(command: string, words: readonly string[]): readonly string[] {
  return words.map((word) => `${command}: \`${word}\` is not understood`);
}

/** What an error says to a user: one line, without its code, with what lies behind it. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The errors of several addresses that were tried have no text of their own.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const { message } = inner instanceof Error ? inner : error;
  const sentence = message.replace(/^ERROR_CODE_\w+: /, "").replaceAll(/\s*\n\s*/g, ", ");
  if (error.cause === undefined) return sentence;
  const cause = sentenceOf(error.cause);
  return sentence.includes(cause) ? sentence : `${sentence}: ${cause}`;
}
