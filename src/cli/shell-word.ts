/** A text as one word of a command line, for bash, zsh and fish. */
export function shellWord(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : quoted(text);
}

/** The same, always in quotation marks. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
