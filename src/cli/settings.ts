import { type FlagKind, type ParsedFlags, parseFlags } from "../config/flags.ts";
import { configFlags, type Loaded, loadConfig } from "../config/load.ts";

/** The configuration of a command, and what else stood on its line. */
export type Settings =
  | (Extract<Loaded, { kind: "config" }> & Pick<ParsedFlags, "values" | "positionals">)
  | Extract<Loaded, { kind: "problems" }>;

/** Reads the flags of the configuration and `extra` ones, with all that is wrong at once. */
export function readSettings(
  args: readonly string[],
  extra: ReadonlyMap<string, FlagKind> = new Map(),
): Settings {
  const { values, positionals, problems } = parseFlags(args, new Map([...configFlags(), ...extra]));
  const loaded = loadConfig({ flags: values, env: process.env });
  if (loaded.kind === "problems") problems.push(...loaded.problems);
  return loaded.kind === "config" && problems.length === 0
    ? { ...loaded, values, positionals }
    : { kind: "problems", problems };
}
