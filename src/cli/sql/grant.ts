import { configFlags } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import type { SubjectSource } from "../../config/subject-source.ts";
import { grantStatements } from "../../store/postgres/sql-interface/grants.ts";
import type { Command } from "../command.ts";
import { complain, say, warn } from "../output.ts";
import { migrationText } from "./migration-text.ts";
import { flagError, isOn, readSqlSettings, type SqlFlag, switchFlag } from "./sql-settings.ts";

const flags = new Map<string, SqlFlag>([
  ["role", { isRequired: true }],
  ["for", { isRequired: true, allowed: ["ask", "write", "list", "map"] }],
  ["bound", switchFlag],
]);

export const grant: Command = {
  name: "grant",
  summary: "print the grants that a role needs",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba sql grant --role ROLE --for ask|write|list|map [flags]

Prints SQL that grants a role a group of functions, and changes nothing. No other role can call them,
and no role needs any right on Pemba's tables.

  --role   the role, spelled as it is named, without quotes
  --for    ask:   may, may_of, visible, visible_ids, visible_count, who and subject. They answer for
                  every tenant and subject, so this is for the role of an application's server.
           list:  what the functions of \`pemba sql list\` call, for the role that makes them
           map:   what the triggers of \`pemba sql map\` call, for the role that makes them
           write: write_tuple, write_tuples, delete_tuples, delete_entity, write_attributes,
                  delete_attributes, token and announce. They write into every tenant, so this is for
                  the role of an application's server.
  --bound  with --for ask: in place of those, the functions my_may, my_may_of, my_visible and
           my_visible_count, which take tenant and subject from settings (\`database.sql.bound\`)

  pemba sql grant --role app --for ask > grants.sql
  psql --file grants.sql postgres://pemba@localhost/app

The name of the functions' schema is that of the configuration, \`database.sql.schema\`.`,

  async run(args) {
    const settings = readSqlSettings("grant", args, flags);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, values } = settings;
    const role = roleOf(values.get("role") ?? "");
    const isBound = isOn(values, "bound");
    const group = values.get("for") ?? "";
    if (isBound) refuseBound(config, group);
    say(grantText(config, { role, group: isBound ? "bound" : group }));
    return 0;
  },
};

/** Postgres cuts a longer name, and could then mean another role. */
const roleBytesMax = 63;

function roleOf(role: string): string {
  if (Buffer.byteLength(role) > roleBytesMax) {
    throw flagError("role", `expected a name of at most ${roleBytesMax} bytes`);
  }
  if (role === "public") {
    throw flagError("role", "`public` stands for every role, expected the name of one");
  }
  return role;
}

function refuseBound(config: Config, group: string): void {
  if (group !== "ask") throw flagError("bound", "goes only with `--for ask`");
  if (config["database.sql.bound"]) return;
  throw flagError("bound", "there are no such functions unless `database.sql.bound` is true");
}

function grantText(
  config: Config,
  { role, group }: { readonly role: string; readonly group: string },
): string {
  const names = { entry: config["database.sql.schema"], role };
  switch (group) {
    case "ask":
      return migrationText(
        [
          "The role can ask for every tenant and every subject: it should be that of an application's",
          "server, which knows for which tenant and subject it asks.",
        ],
        grantStatements("ask", names),
      );
    case "bound":
      return migrationText(
        boundNote(config["database.sql.subject"]),
        grantStatements("bound", names),
      );
    case "write":
      return migrationText(
        [
          "The role can write tuples and attributes of every tenant: it should be that of an application's",
          "server, and not one that runs SQL of others.",
        ],
        grantStatements("write", names),
      );
    case "map":
      return migrationText(
        [
          "The role can make functions in the schema, and those of maps run with its rights. It can say and write what",
          "maps derive, in every tenant. So it should be the role that changes the application's tables, and not",
          "that of its server.",
        ],
        grantStatements("map", names),
      );
    default:
      return migrationText(
        [
          "The role can make functions in the schema, and those of lists run with its rights. It can also ask",
          "for every tenant and every subject. Others call functions of the schema, so it should be a role",
          "that changes the application's tables, and not that of its server.",
        ],
        grantStatements("list", names),
      );
  }
}

function boundNote(subject: SubjectSource): readonly string[] {
  const source =
    subject.kind === "setting"
      ? `the setting \`${subject.name}\``
      : `the claim \`${subject.claim}\` in the setting \`request.jwt.claims\``;
  return [
    "These functions trust settings of the session: they take the tenant from the setting",
    `\`pemba.tenant\`, and the subject from ${source}.`,
    "A role that can run SQL of its own can set both to any value. So grant them only to a role whose",
    "statements come from a gateway that sets both and lets its clients run no SQL.",
  ];
}
