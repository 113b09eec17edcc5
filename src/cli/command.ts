/** A command of `pemba`, in a file of its own. */
export interface Command {
  readonly name: string;
  /** A short text for the list of commands. */
  readonly summary: string;
  /** The text of `pemba help <name>`. `words` are the arguments beside it, for a command of commands. */
  help(words: readonly string[]): string;
  /** The commands that its first word names, if it has some of their own. */
  readonly parts?: ReadonlyMap<string, Command>;
  /** Resolves to the exit status. */
  run(args: readonly string[]): Promise<number>;
}
