/** The kinds of sources, the later ones winning over the earlier ones. */
export type SourceKind = "file" | "variable" | "flag";

/** One value as somebody gave it. */
export interface Setting {
  /** Of the key, as it was given: its own, or the one that it had. */
  readonly name: string;
  readonly source: SourceKind;
  /** Of a list in a file, the texts of its items. */
  readonly text: string | readonly string[];
  /** Where it was given, as an error names it: a flag, a variable, a line and column of a file. */
  readonly place: string;
}

/** What one source gives, by the name of the key, and what is wrong with it. */
export interface Source {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly problems: readonly string[];
}
