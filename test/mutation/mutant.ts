/** A stretch of a source, by offsets. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A change of a source that plants one fault. */
export interface Edit extends Range {
  /** What kind of fault this is, in a few words. */
  readonly operator: string;
  readonly text: string;
}

/** An edit, and the part of the source that has to stand twice for it to be switched on and off. */
export interface Candidate extends Edit {
  readonly around: Range & { readonly kind: "expression" | "statement" };
}

/** A fault that was drawn to be planted. */
export interface Mutant extends Candidate {
  /** Its number, by which instrumented code asks whether it is switched on. */
  readonly id: number;
  /** The same fault in the same source has the same key in every run. */
  readonly key: string;
  /** The path from the root of the repository. */
  readonly file: string;
  readonly line: number;
  /** The line or lines that the edit touches, as they are and as they become. */
  readonly before: string;
  readonly after: string;
}

/** The source with the edit applied. */
export function applied(source: string, edit: Edit, within: Range): string {
  return source.slice(within.start, edit.start) + edit.text + source.slice(edit.end, within.end);
}
