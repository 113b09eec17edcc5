import { Type } from "typebox";

import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { pagesOf } from "../client/pages.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { sayTable } from "../terminal.ts";

const ListSchemasAnswer = Type.Object({
  head: Type.String(),
  schemas: Type.Array(Type.Object({ version: Type.String(), created_at: Type.String() })),
  continuous_token: Type.String(),
});

const flags = new Map([["json", switchKind]]);

export const list: Command = {
  name: "list",
  summary: "list the versions of a server",
  flags: withServer(flags),
  help: () => `usage: pemba schema list [flags]

Prints the versions of the schema, newest first, with the time of each. The first one is the head.

  --json    print the answers of the server, each in a line
${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("schema list", args, [], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const pages = pagesOf(asked.server, "schemas/list", { body: {}, answer: ListSchemasAnswer });
    for await (const page of pages) {
      if (asked.switches.has("json")) say(JSON.stringify(page));
      else sayTable(page.schemas.map(({ version, created_at: time }) => [version, time]));
    }
    return 0;
  },
};
