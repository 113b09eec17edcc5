import type { FlagKind } from "../config/flags.ts";

/** A command of `pemba`, in a file of its own. */
export interface Command {
  readonly name: string;
  /** A short text for the list of commands. */
  readonly summary: string;
  /** The flags that it takes, for completions. Those of its parts are theirs. */
  readonly flags: ReadonlyMap<string, FlagKind>;
  /** What its first word may be, if it is one of a few and names no part. */
  readonly words?: readonly string[];
  /** Its first word is the name of a context, for completions. */
  readonly takesContext?: true;
  /** The text of `pemba help <name>`. `words` are the arguments beside it, for a command of commands. */
  help(words: readonly string[]): string | Promise<string>;
  /** The commands that its first word names, if it has some of their own. */
  readonly parts?: CommandLoaders;
  /** Resolves to the exit status. */
  run(args: readonly string[]): Promise<number>;
}

/**
 * Commands by their names, in the order of the help. Each is loaded when it is needed, because what some
 * of them use takes a second to load.
 */
export type CommandLoaders = ReadonlyMap<string, () => Promise<Command>>;

/** All of these commands, in their order. */
export async function loadAll(commands: CommandLoaders): Promise<readonly Command[]> {
  return await Promise.all([...commands.values()].map(async (load) => await load()));
}
