/** A command of `pemba`, in a file of its own. */
export interface Command {
  readonly name: string;
  /** A short text for the list of commands. */
  readonly summary: string;
  /** The text of `pemba help <name>`. */
  help(): string;
  /** Resolves to the exit status. */
  run(args: readonly string[]): Promise<number>;
}
