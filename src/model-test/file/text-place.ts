/** A place in a text, for messages. Lines and columns count from 1. */
export interface TextPlace {
  /** The file as the user named it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Something that is wrong at a place. */
export interface PlacedMessage {
  readonly place: TextPlace;
  readonly message: string;
}

/** `file:line:column`, as editors and terminals link it. */
export function placeText({ file, line, column }: TextPlace): string {
  return `${file}:${line}:${column}`;
}
