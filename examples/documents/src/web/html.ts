/** Text that is safe to send as HTML. Only the tag `html` makes it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What can stand in a template: text, which is escaped, and HTML, which is not. */
export type Piece = string | number | Html | readonly Html[] | undefined;

/**
 * Makes HTML of a template. Every value is escaped, so it may stand between tags and inside a quoted
 * attribute, and nowhere else.
 */
export function html(template: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  const parts = template.map((literal, index) => literal + textOf(pieces[index]));
  return new Html(parts.join(""));
}

function textOf(piece: Piece): string {
  if (piece === undefined) return "";
  if (piece instanceof Html) return piece.text;
  if (typeof piece === "object") return piece.map(({ text }) => text).join("");
  return escapeText(String(piece));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
