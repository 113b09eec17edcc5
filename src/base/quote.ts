const shownLength = 100;

/** Quotes user input for a message, and cuts it if it is long. */
export function quote(text: string): string {
  return `\`${shorten(text)}\``;
}

/** The same without quotes, for a key that the client chose in the path of a field. */
export function shorten(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}...`;
}
