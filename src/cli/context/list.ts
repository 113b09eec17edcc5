import { parseFlags } from "../../config/flags.ts";
import { boolean } from "../../config/kind.ts";
import { readContexts } from "../client/contexts.ts";
import { defaultTenant } from "../client/server-flags.ts";
import type { Command } from "../command.ts";
import { complain, remark, say, surplus } from "../output.ts";
import { sayTable } from "../terminal.ts";

const flags = new Map([["json", { bare: "true" }]]);

export const list: Command = {
  name: "list",
  summary: "list the servers that are kept",
  flags,
  help: () => `usage: pemba context list [flags]

Lists the contexts with their servers and tenants; \`*\` is in use. Tokens are not shown.

  --json  the same as JSON, a line each`,

  async run(args) {
    const { values, certain, problems } = parseFlags(args, flags);
    problems.push(...surplus("context list", certain));
    const isJson = boolean.read(values.get("json") ?? "false");
    if (isJson === undefined) problems.push(`--json: expected ${boolean.expected}`);
    if (problems.length > 0) return complain(...problems);
    const { current, contexts } = readContexts();
    if (isJson === true) {
      for (const { name, url, tenant = defaultTenant, token, ca } of contexts) {
        const shown = { name, url, tenant, has_token: token !== undefined, ...(ca && { ca }) };
        say(JSON.stringify({ ...shown, in_use: name === current }));
      }
      return 0;
    }
    if (contexts.length === 0)
      remark("there is no context yet: `pemba context add` keeps a server");
    sayTable(
      contexts.map(({ name, url, tenant = defaultTenant, token, ca }) => [
        name === current ? "*" : " ",
        name,
        url,
        tenant,
        token === undefined ? "no token" : "a token",
        ca ?? "",
      ]),
    );
    return 0;
  },
};
