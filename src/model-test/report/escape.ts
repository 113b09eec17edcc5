/** What XML cannot hold in any form, and half a character. */
// oxlint-disable-next-line no-control-regex -- these are the characters that it is about
const impossible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/**
 * A text as text of HTML or XML, between tags or in quotes. What XML cannot hold becomes a replacement
 * character.
 */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(impossible, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => entities.get(character) ?? character);
}
