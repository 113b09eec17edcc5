import { Type } from "typebox";

import { askTenant, ServerRefusal } from "../client/ask.ts";
import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, messageOf, say } from "../output.ts";
import { readSchemaText } from "../schema-text.ts";

/** The version that was written. */
export const WriteSchemaAnswer = Type.Object({ schema_version: Type.String() });

const flags = new Map([
  ["expected-head", {}],
  ["json", switchKind],
]);

export const write: Command = {
  name: "write",
  summary: "make a file the head of a server",
  flags: withServer(flags),
  help: () => `usage: pemba schema write FILE [flags]

Writes the schema to a server, where it becomes the head, and prints its version; \`-\` is standard input.
\`pemba schema diff FILE\` shows before what would change.

  --expected-head  the version that is replaced, or "" for none; if the head is another one, nothing is
                   written
  --json           print the answer of the server

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("schema write", args, ["FILE"], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const [file = ""] = asked.words;
    const schema = readSchemaText(file, "schema write");
    try {
      const expected = asked.values.get("expected-head");
      const path = expected === undefined ? "schemas/write" : "schemas/change";
      const body = { schema, ...(expected !== undefined && { expected_head: expected }) };
      const answer = await askTenant(asked.server, path, { body, answer: WriteSchemaAnswer });
      say(asked.switches.has("json") ? JSON.stringify(answer) : answer.schema_version);
      return 0;
    } catch (error) {
      if (!(error instanceof ServerRefusal)) throw error;
      // A fault in the schema begins with its line and column.
      const message = messageOf(error);
      return complain(/^\d+:\d+: /.test(message) ? `${file}:${message}` : message);
    }
  },
};
