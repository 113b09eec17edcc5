import { askTenant } from "../client/ask.ts";
import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { WriteSchemaAnswer } from "./write.ts";

const flags = new Map([
  ["expected-head", {}],
  ["json", switchKind],
]);

export const activate: Command = {
  name: "activate",
  summary: "make an old version the head of a server again",
  flags: withServer(flags),
  help: () => `usage: pemba schema activate VERSION [flags]

Writes the text of an old version as a new version, which is the head then, and prints it. Tuples and
attributes stay as they are. \`pemba schema list\` shows the versions.

  pemba schema activate 06gmt3brq0ngadjqe500

  --expected-head  the version that is replaced; if the head is another one, nothing is written
  --json           print the answer of the server

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("schema activate", args, ["VERSION"], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const [version = ""] = asked.words;
    const expected = asked.values.get("expected-head");
    const answer = await askTenant(asked.server, "schemas/activate", {
      body: {
        schema_version: version,
        ...(expected !== undefined && { expected_head: expected }),
      },
      answer: WriteSchemaAnswer,
    });
    say(asked.switches.has("json") ? JSON.stringify(answer) : answer.schema_version);
    return 0;
  },
};
