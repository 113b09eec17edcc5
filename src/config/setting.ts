/** One value as somebody gave it. */
export interface Setting {
  /** Of a list in a file, the texts of its items. */
  readonly text: string | readonly string[];
  /** Where it was given, as an error names it: a flag, a variable, a line of a file. */
  readonly place: string;
}

/** What one source gives, by the YAML path of the key, and what is wrong with it. */
export interface Source {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly problems: readonly string[];
}
