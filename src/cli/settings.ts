import { type FlagKind, type ParsedFlags, parseFlags } from "../config/flags.ts";
import { configFlags, type Loaded, loadConfig } from "../config/load.ts";

/** The configuration of a command, and its other arguments. */
export type Settings =
  | (Extract<Loaded, { kind: "config" }> & Pick<ParsedFlags, "positionals" | "values">)
  | Extract<Loaded, { kind: "problems" }>;

/**
 * Reads the flags of the configuration and of the command, and collects all problems. `problemsOf`
 * checks the other arguments and the command's own flags.
 */
export function readSettings(
  args: readonly string[],
  problemsOf: (words: readonly string[], values: ReadonlyMap<string, string>) => readonly string[],
  ownFlags: ReadonlyMap<string, FlagKind> = new Map(),
): Settings {
  const known = new Map([...configFlags(), ...ownFlags]);
  const { values, positionals, certain, problems } = parseFlags(args, known);
  // Of a word behind an unknown flag, which may be its value, the problem is told that is the lesser one.
  const [one, other] = [problemsOf(certain, values), problemsOf(positionals, values)];
  problems.push(...(one.length < other.length ? one : other));
  const loaded = loadConfig({ flags: values, env: process.env });
  if (loaded.kind === "problems") problems.push(...loaded.problems);
  return loaded.kind === "config" && problems.length === 0
    ? { ...loaded, positionals, values }
    : { kind: "problems", problems };
}
