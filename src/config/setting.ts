/** The kinds of sources. Later ones override earlier ones. */
export type SourceKind = "file" | "variable" | "flag";

/** One given value. */
export interface Setting {
  /** The name of the key as it was given: its own or its deprecated one. */
  readonly name: string;
  readonly source: SourceKind;
  /** For a list in a file, the texts of its items. */
  readonly text: string | readonly string[];
  /** Where the value was given, for errors: a flag, a variable, or a line and column of a file. */
  readonly place: string;
  /** The same for a part of a tree in a file, by its path in the value, such as `[1].scopes[0]`. */
  readonly placeOf?: (part: string) => string;
}

/** What one source gives, by the name of the key, and its problems. */
export interface SettingSource {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly problems: readonly string[];
}
