import { Type } from "typebox";

import { PembaError } from "../../base/error.ts";
import { askTenant } from "../client/ask.ts";
import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { fieldOf } from "../client/fields.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, messageOf, say } from "../output.ts";
import { readText } from "../schema-text.ts";

const WriteBundlesAnswer = Type.Object({ names: Type.Array(Type.String()) });

const flags = new Map([["json", switchKind]]);

export const write: Command = {
  name: "write",
  summary: "write bundles from a file",
  flags: withServer(flags),
  help: () => `usage: pemba bundle write FILE [flags]

Writes the bundles of a JSON file to a server, all or none, and prints their names; \`-\` is standard input.
The file has a bundle, a list of bundles, or an object with the list as \`bundles\`. Each replaces the
bundle of the same name.

  {"name": "hire", "arguments": ["who"],
   "operations": [{"relationships_write": ["group:staff#member@user:{{.who}}"]}]}

  --json  print the answer of the server

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("bundle write", args, ["FILE"], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const [file = ""] = asked.words;
    const answer = await askTenant(asked.server, "bundle/write", {
      body: { bundles: bundlesIn(file) },
      answer: WriteBundlesAnswer,
    });
    if (asked.switches.has("json")) say(JSON.stringify(answer));
    else answer.names.forEach(say);
    return 0;
  },
};

/** The server checks the bundles themselves. */
function bundlesIn(file: string): readonly unknown[] {
  let json: unknown;
  try {
    json = JSON.parse(readText(file, "bundle write").replace(/^\uFEFF/, ""));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const problem = `bundle write: \`${file}\` is not JSON: ${messageOf(error)}`;
    throw new PembaError("INVALID_ARGUMENT", problem);
  }
  const list = fieldOf(json, "bundles") ?? json;
  return Array.isArray(list) ? list : [list];
}
