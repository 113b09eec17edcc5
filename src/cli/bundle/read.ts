import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { askBundle } from "./ask-bundle.ts";
import { ReadBundleAnswer } from "./bundle-answer.ts";

const flags = new Map([["json", switchKind]]);

export const read: Command = {
  name: "read",
  summary: "print a bundle",
  flags: withServer(flags),
  help: () => `usage: pemba bundle read NAME [flags]

Prints a bundle as JSON, in a form that \`pemba bundle write\` takes.

  pemba bundle read hire > hire.json

  --json  print the answer of the server in a line

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("bundle read", args, ["NAME"], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const [name = ""] = asked.words;
    const request = { body: { name }, answer: ReadBundleAnswer };
    const answer = await askBundle(asked.server, "bundle/read", request);
    if (asked.switches.has("json")) say(JSON.stringify(answer));
    else say(JSON.stringify(answer.bundle, undefined, 2));
    return 0;
  },
};
