const shownLength = 100;

/** User input as it stands in a message: quoted, and cut when it is long. */
export function quote(text: string): string {
  return `\`${shorten(text)}\``;
}

/** The same without quotes, for a key of the client's own in the path of a field. */
export function shorten(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}...`;
}
