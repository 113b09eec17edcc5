import type { FlagKind } from "../../config/flags.ts";
import { withServer, type AskedWords, readAskedWords, switchKind } from "../client/asked-words.ts";
import type { Server } from "../client/send.ts";
import { serverHelp } from "../client/server-flags.ts";
import { readContextFile } from "./context-file.ts";

/** A question about permissions as the command line asks it. */
export interface AskedQuestion {
  readonly kind: "question";
  readonly server: Server;
  readonly words: readonly string[];
  readonly switches: ReadonlySet<string>;
  /** What the body of every question has. */
  readonly common: { readonly metadata: object; readonly context?: object };
}

const flags: ReadonlyMap<string, FlagKind> = new Map([
  ["snap-token", {}],
  ["context", {}],
  ["json", switchKind],
]);

/** The flags of a question, besides its own ones. */
export function questionFlags(
  own: ReadonlyMap<string, FlagKind> = new Map(),
): ReadonlyMap<string, FlagKind> {
  return withServer(new Map([...flags, ...own]));
}

/** What a help text says of the flags of all questions. */
export const questionHelp = `  --context     JSON file with tuples, attributes and data that count for this question alone;
                tuples and attributes may be text, such as "document:1#viewer@user:ada"
  --snap-token  ask at this state of the data
  --json        print the answers of the server, each in a line

${serverHelp}`;

/** Reads the words and flags of a question. Fails with INVALID_ARGUMENT for a context that is none. */
export function readQuestion(
  command: string,
  args: readonly string[],
  expected: readonly string[],
  ownFlags: ReadonlyMap<string, FlagKind> = new Map(),
): AskedQuestion | Extract<AskedWords, { readonly kind: "problems" }> {
  const asked = readAskedWords(command, args, expected, questionFlags(ownFlags));
  if (asked.kind === "problems") return asked;
  const { server, words, values, switches } = asked;
  const context = values.get("context");
  const common = {
    metadata: { snap_token: values.get("snap-token") ?? "" },
    ...(context !== undefined && { context: readContextFile(context) }),
  };
  return { kind: "question", server, words, switches, common };
}
