import { readAskedWords, switchKind, withServer } from "../client/asked-words.ts";
import { readDefinitions, readServerSchema } from "../client/head-schema.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, put, say } from "../output.ts";

const flags = new Map([
  ["version", {}],
  ["json", switchKind],
]);

export const read: Command = {
  name: "read",
  summary: "print a schema of a server",
  flags: withServer(flags),
  help: () => `usage: pemba schema read [flags]

Prints the head of a server, or another version. It means what was written, but has no comments and no blank
lines of it. So its lines are not those that \`pemba explain\` and errors name: these are lines of the text that was
written. Keep that file. Explain shows each expression beside its place, to be found in either text.

  --version  a version that \`pemba schema list\` shows
  --json     print the answer of the server

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("schema read", args, [], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const version = asked.values.get("version") ?? "";
    if (asked.switches.has("json")) {
      say(JSON.stringify(await readDefinitions(asked.server, version)));
    } else put(await readServerSchema(asked.server, version));
    return 0;
  },
};
