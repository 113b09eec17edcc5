import { Type } from "typebox";

import type { FlagKind } from "../config/flags.ts";
import { printable } from "../model-test/report/printable.ts";
import { askServer } from "./client/ask.ts";
import { withServer, readAskedWords, switchKind } from "./client/asked-words.ts";
import { pathPagesOf } from "./client/pages.ts";
import { serverHelp } from "./client/server-flags.ts";
import type { Command } from "./command.ts";
import { complain, say, wrongWord } from "./output.ts";
import { sayTable } from "./terminal.ts";

const TenantShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: Type.String(),
});

const CreateTenantAnswer = Type.Object({ tenant: TenantShape });

const ListTenantsAnswer = Type.Object({
  tenants: Type.Array(TenantShape),
  continuous_token: Type.String(),
});

const DeleteTenantAnswer = Type.Object({ tenant_id: Type.String() });

const actions: ReadonlyMap<string, (args: readonly string[]) => Promise<number>> = new Map([
  ["create", create],
  ["list", list],
  ["delete", remove],
]);

const jsonFlag: ReadonlyMap<string, FlagKind> = new Map([["json", switchKind]]);

export const tenant: Command = {
  name: "tenant",
  summary: "create, list and delete tenants",
  flags: withServer(new Map([...jsonFlag, ["name", {}]])),
  words: [...actions.keys()],
  help: () => `usage: pemba tenant create ID [--name NAME] [flags]
       pemba tenant list [flags]
       pemba tenant delete ID [flags]

Creates a tenant, lists all of them with their names and times, or deletes one with its schemas and data.

  --name    a name for people (default: the id)
  --json    print the answers of the server, each in a line
${serverHelp.replace(/^.*--tenant.*\n/m, "")}`,

  async run([word = "", ...rest]) {
    const act = actions.get(word);
    if (act !== undefined) return await act(rest);
    return complain(wrongWord("tenant", [...actions.keys()], word));
  },
};

async function create(args: readonly string[]): Promise<number> {
  const flags = new Map([...jsonFlag, ["name", {}]]);
  const asked = readAskedWords("tenant create", args, ["ID"], flags);
  if (asked.kind === "problems") return complain(...asked.problems);
  const [id = ""] = asked.words;
  const answer = await askServer(asked.server, {
    method: "POST",
    path: "/v1/tenants/create",
    body: { id, name: asked.values.get("name") ?? id },
    answer: CreateTenantAnswer,
  });
  say(asked.switches.has("json") ? JSON.stringify(answer) : answer.tenant.id);
  return 0;
}

async function list(args: readonly string[]): Promise<number> {
  const asked = readAskedWords("tenant list", args, [], jsonFlag);
  if (asked.kind === "problems") return complain(...asked.problems);
  const pages = pathPagesOf(asked.server, "/v1/tenants/list", {
    body: {},
    answer: ListTenantsAnswer,
  });
  for await (const page of pages) {
    if (asked.switches.has("json")) say(JSON.stringify(page));
    else
      sayTable(page.tenants.map(({ id, name, created_at: time }) => [id, time, printable(name)]));
  }
  return 0;
}

async function remove(args: readonly string[]): Promise<number> {
  const asked = readAskedWords("tenant delete", args, ["ID"], jsonFlag);
  if (asked.kind === "problems") return complain(...asked.problems);
  const [id = ""] = asked.words;
  const answer = await askServer(asked.server, {
    method: "DELETE",
    path: `/v1/tenants/${encodeURIComponent(id)}`,
    body: undefined,
    answer: DeleteTenantAnswer,
  });
  say(asked.switches.has("json") ? JSON.stringify(answer) : answer.tenant_id);
  return 0;
}
