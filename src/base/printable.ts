/** Characters that a terminal acts on, and those that change the direction of a text. */
// oxlint-disable-next-line no-control-regex -- these are the characters that it is about
const acting = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text from a file as one line that a terminal only shows: such characters as `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(acting, asNumber);
}

/** The same for a text of several lines, which may have tabs. JSON stays the same value. */
export function printableLines(text: string): string {
  return text.replaceAll(acting, (character) =>
    character === "\n" || character === "\t" ? character : asNumber(character),
  );
}

function asNumber(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
