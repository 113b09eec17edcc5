import { readAskedWords } from "../client/asked-words.ts";
import { readServerSchema } from "../client/head-schema.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain } from "../output.ts";

export const read: Command = {
  name: "read",
  summary: "print a schema of a server",
  help: () => `usage: pemba schema read [flags]

Prints the head of a server, or another version. It means what was written, but has no comments.

  --version  a version that \`pemba schema list\` shows
${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("schema read", args, [], new Map([["version", {}]]));
    if (asked.kind === "problems") return complain(...asked.problems);
    const version = asked.values.get("version") ?? "";
    process.stdout.write(await readServerSchema(asked.server, version));
    return 0;
  },
};
