import { withServer, readAskedWords, switchKind } from "../client/asked-words.ts";
import { pagesOf } from "../client/pages.ts";
import { serverHelp } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, say } from "../output.ts";
import { ListBundlesAnswer } from "./bundle-answer.ts";

const flags = new Map([["json", switchKind]]);

export const list: Command = {
  name: "list",
  summary: "list the names of the bundles",
  flags: withServer(flags),
  help: () => `usage: pemba bundle list [flags]

Prints the names of the bundles of a server, one in each line, in ascending order.

  --json  print the answers of the server, each in a line

${serverHelp}`,

  async run(args) {
    const asked = readAskedWords("bundle list", args, [], flags);
    if (asked.kind === "problems") return complain(...asked.problems);
    const request = { body: { page_size: 1_000 }, answer: ListBundlesAnswer };
    for await (const page of pagesOf(asked.server, "bundle/list", request)) {
      if (asked.switches.has("json")) say(JSON.stringify(page));
      else page.names.forEach(say);
    }
    return 0;
  },
};
