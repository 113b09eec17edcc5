import { type Static, Type } from "typebox";

import { printable } from "../base/printable.ts";
import type { FlagKind } from "../config/flags.ts";
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

const PlacedTenantShape = Type.Object({ ...TenantShape.properties, cluster: Type.String() });

const PlaceTenantAnswer = Type.Object({ tenant: PlacedTenantShape });

const ListPlacedTenantsAnswer = Type.Object({
  tenants: Type.Array(PlacedTenantShape),
  continuous_token: Type.String(),
});

const ListTenantsAnswer = Type.Object({
  tenants: Type.Array(TenantShape),
  continuous_token: Type.String(),
});

const DeleteTenantAnswer = Type.Object({ tenant_id: Type.String() });

const actions: ReadonlyMap<string, (args: readonly string[]) => Promise<number>> = new Map([
  ["create", create],
  ["list", list],
  ["delete", remove],
  ["move", async (args) => await (await import("./moves/move.ts")).move(args)],
  ["balance", async (args) => await (await import("./moves/balance.ts")).balance(args)],
]);

const jsonFlag: ReadonlyMap<string, FlagKind> = new Map([["json", switchKind]]);
const createFlags: ReadonlyMap<string, FlagKind> = new Map([
  ...jsonFlag,
  ["name", {}],
  ["cluster", {}],
]);
/** Of the commands that take the configuration of a server in place of its address. */
const placeFlags: ReadonlyMap<string, FlagKind> = new Map<string, FlagKind>([
  ["to", {}],
  ["rate", {}],
  ["revert", { bare: "true" }],
  ["dry-run", { bare: "true" }],
  ["config", {}],
]);
const listFlags: ReadonlyMap<string, FlagKind> = new Map([...jsonFlag, ["clusters", switchKind]]);

export const tenant: Command = {
  name: "tenant",
  summary: "create, list, delete and move tenants",
  flags: withServer(new Map([...createFlags, ...listFlags, ...placeFlags])),
  words: [...actions.keys()],
  help: () => `usage: pemba tenant create ID [--name NAME] [--cluster CLUSTER] [flags]
       pemba tenant list [--clusters] [flags]
       pemba tenant delete ID [flags]
       pemba tenant move ID --to CLUSTER [--rate ROWS] [--config FILE]
       pemba tenant move ID --revert [--config FILE]
       pemba tenant balance [--dry-run] [--rate ROWS] [--config FILE]

Creates a tenant, lists all of them with their names and times, or deletes one with its schemas and data.

\`move\` brings a tenant to another cluster while it is read and written. Its writers wait for a moment at the
end. Run it again if it broke off: it goes on. With --revert an unfinished move is taken back. \`balance\` moves
tenants until each cluster has its share of all tuples, by the weights. It names tenants that cannot be moved, and
moves the others all the same. Both take the configuration of a server
(\`database.clusters\`) and connect to the databases by themselves.

  --name      a name for people (default: the id)
  --cluster   the cluster that gets the tenant, one of \`database.clusters\` of the server (default: the
              server chooses one)
  --clusters  print the cluster of each tenant as well
  --to        the cluster to which the tenant moves
  --rate      the most tuples a second that are copied (default: no limit)
  --revert    the tenant stays where it is, and what was copied is removed
  --dry-run   only show the moves
  --config    a configuration file of a server; other flags and variables of it are taken, too
  --json      print the answers of the server, each in a line
${serverHelp.replace(/^.*--tenant.*\n/m, "")}`,

  async run([word = "", ...rest]) {
    const act = actions.get(word);
    if (act !== undefined) return await act(rest);
    return complain(wrongWord("tenant", [...actions.keys()], word));
  },
};

async function create(args: readonly string[]): Promise<number> {
  const asked = readAskedWords("tenant create", args, ["ID"], createFlags);
  if (asked.kind === "problems") return complain(...asked.problems);
  const [id = ""] = asked.words;
  const body = { id, name: asked.values.get("name") ?? id };
  const cluster = asked.values.get("cluster");
  const answer =
    cluster === undefined
      ? await askServer(asked.server, {
          method: "POST",
          path: "/v1/tenants/create",
          body,
          answer: CreateTenantAnswer,
        })
      : await askServer(asked.server, {
          method: "POST",
          path: "/v1/tenants/place",
          body: { ...body, cluster },
          answer: PlaceTenantAnswer,
        });
  say(asked.switches.has("json") ? JSON.stringify(answer) : answer.tenant.id);
  return 0;
}

async function list(args: readonly string[]): Promise<number> {
  const asked = readAskedWords("tenant list", args, [], listFlags);
  if (asked.kind === "problems") return complain(...asked.problems);
  const isPlaced = asked.switches.has("clusters");
  const pages = isPlaced
    ? pathPagesOf(asked.server, "/v1/tenants/list-placed", {
        body: {},
        answer: ListPlacedTenantsAnswer,
      })
    : pathPagesOf(asked.server, "/v1/tenants/list", { body: {}, answer: ListTenantsAnswer });
  for await (const page of pages) {
    if (asked.switches.has("json")) say(JSON.stringify(page));
    else sayTable(page.tenants.map(rowOf));
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

/** The cluster of a tenant is shown if the server has told it. */
function rowOf(
  tenant: Static<typeof TenantShape> | Static<typeof PlacedTenantShape>,
): readonly string[] {
  const { id, name, created_at: time } = tenant;
  const cluster = "cluster" in tenant ? [tenant.cluster] : [];
  return [id, ...cluster, time, printable(name)];
}
