import type { SourceSpan } from "../language/tree.ts";

/** A part of a text, and what takes its place. */
export interface TextEdit {
  readonly span: SourceSpan;
  readonly text: string;
}

/** The text after the edits, which do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const parts: string[] = [];
  let copied = 0;
  for (const edit of edits.toSorted((one, other) => one.span.start - other.span.start)) {
    parts.push(text.slice(copied, edit.span.start), edit.text);
    copied = edit.span.end;
  }
  return parts.join("") + text.slice(copied);
}

/** The edit that makes `after` of `before`, as short as possible. Undefined if they are equal. */
export function editBetween(before: string, after: string): TextEdit | undefined {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let behind = 0;
  while (
    behind < shorter - start &&
    before.charCodeAt(before.length - 1 - behind) === after.charCodeAt(after.length - 1 - behind)
  ) {
    behind += 1;
  }
  const end = before.length - behind;
  return { span: { start, end }, text: after.slice(start, after.length - behind) };
}
