import { Type } from "typebox";

import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { askBundle } from "./ask-bundle.ts";

const DeleteBundleAnswer = Type.Object({ name: Type.String() });

const flags = new Map([["json", switchKind]]);

export const remove: Command = {
  name: "delete",
  summary: "delete a bundle",
  flags: withServer(flags),
  help: () => `usage: pemba bundle delete NAME [flags]

Deletes a bundle and prints its name. What it wrote before stays.

  --json  print the answer of the server

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("bundle delete", args, ["NAME"], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const [name = ""] = asked.words;
    const request = { body: { name }, answer: DeleteBundleAnswer };
    const answer = await askBundle(asked.server, "bundle/delete", request);
    say(asked.switches.has("json") ? JSON.stringify(answer) : answer.name);
    return 0;
  },
};
