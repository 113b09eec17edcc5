import { Type } from "typebox";

import { readAskedWords, switchKind } from "../client/asked-words.ts";
import { pagesOf } from "../client/pages.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";

const ListSchemasAnswer = Type.Object({
  head: Type.String(),
  schemas: Type.Array(Type.Object({ version: Type.String(), created_at: Type.String() })),
  continuous_token: Type.String(),
});

export const list: Command = {
  name: "list",
  summary: "list the versions of a server",
  help: () => `usage: pemba schema list [flags]

Prints the versions of the schema, newest first, with the time of each. The first one is the head.

  --json    print the answers of the server, each in a line
${serverHelp}`,

  async run(args) {
    const flags = new Map([["json", switchKind]]);
    const asked = readAskedWords("schema list", args, [], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const pages = pagesOf(asked.server, "schemas/list", { body: {}, answer: ListSchemasAnswer });
    for await (const page of pages) {
      if (asked.switches.has("json")) say(JSON.stringify(page));
      else for (const { version, created_at: time } of page.schemas) say(`${version}  ${time}`);
    }
    return 0;
  },
};
