import { type FlagKind, parseFlags } from "../../config/flags.ts";
import { boolean } from "../../config/kind.ts";
import { surplus } from "../output.ts";
import type { Server } from "./send.ts";
import { readServer, serverFlags } from "./server-flags.ts";

/** The words and flags of a command that asks a server. */
export type AskedWords =
  | {
      readonly kind: "words";
      readonly server: Server;
      readonly words: readonly string[];
      readonly values: ReadonlyMap<string, string>;
      /** The flags without a value that are set. */
      readonly switches: ReadonlySet<string>;
    }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

const anyWords = "...";

/** A flag without a value. */
export const switchKind: FlagKind = { bare: "true" };

/** The flags of a command that asks a server: its own ones, and those that name the server. */
export function withServer(flags: ReadonlyMap<string, FlagKind>): ReadonlyMap<string, FlagKind> {
  return new Map([...serverFlags, ...flags]);
}

/**
 * Reads the words and flags of a command, besides those that name the server. `expected` names the words
 * in the order in which they stand. The last one may be repeated if it ends with `...`, and left out if it
 * is nothing else.
 */
export function readAskedWords(
  command: string,
  args: readonly string[],
  expected: readonly string[],
  flags: ReadonlyMap<string, FlagKind>,
): AskedWords {
  const known = withServer(flags);
  const { values, positionals, certain, problems } = parseFlags(args, known);
  const least = expected.filter((word) => word !== anyWords).length;
  if (positionals.length < least) problems.push(`${command}: expected ${expected.join(" ")}`);
  if (expected.at(-1)?.endsWith(anyWords) !== true) {
    problems.push(...surplus(command, certain.slice(expected.length)));
  }
  const switches = new Set<string>();
  for (const [name, kind] of known) {
    if (kind !== switchKind) continue;
    const value = boolean.read(values.get(name) ?? "false");
    if (value === undefined) problems.push(`--${name}: expected ${boolean.expected}`);
    if (value === true) switches.add(name);
  }
  const server = readServer(values, problems);
  return problems.length > 0
    ? { kind: "problems", problems }
    : { kind: "words", server, words: positionals, values, switches };
}
