const shownLength = 100;

/** Quotes user input for a message, and cuts it if it is long. */
export function quote(text: string): string {
  return `\`${shorten(text)}\``;
}

/** The same without quotes, for a key that the client chose in the path of a field. */
export function shorten(text: string, lengthMax = shownLength): string {
  return text.length <= lengthMax ? text : `${beginningOf(text, lengthMax)}...`;
}

/** The path of the field under a key, which the client may have chosen, of what stands at a path: "" for the whole. */
export function pathUnder(path: string, key: string): string {
  return path === "" ? shorten(key) : `${path}.${shorten(key)}`;
}

/**
 * The first characters of a text, at most `length` UTF-16 code units. It does not cut a character in
 * half: half a character cannot be sent.
 */
export function beginningOf(text: string, length: number): string {
  const last = text.codePointAt(length - 1) ?? 0;
  return text.slice(0, last > 0xffff ? length - 1 : length);
}
