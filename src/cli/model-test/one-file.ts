/** The one file of a command. Undefined if there is a problem, which is then among `problems`. */
export function oneFile(
  command: string,
  words: readonly string[],
  problems: string[],
): string | undefined {
  const [file] = words;
  if (file === undefined || words.length > 1) problems.push(`${command}: expected one FILE`);
  return problems.length > 0 ? undefined : file;
}
