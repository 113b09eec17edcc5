import { configFlags } from "../../config/load.ts";
import { planStatements } from "../../sql/application/plan-statements.ts";
import { type Wrappers, wrappersOf } from "../../sql/application/wrapper.ts";
import { keyTypes } from "../../sql/list/list-key.ts";
import { statementFile } from "../../store/postgres/connect/statement-file.ts";
import { filled, type InterfaceNames } from "../../store/postgres/sql-interface/interface-names.ts";
import type { PlannedQuestions } from "../../store/postgres/sql-interface/planned-questions.ts";
import type { Command } from "../command.ts";
import { clusterFlag } from "../databases.ts";
import { complain, say, warn } from "../output.ts";
import { readSchemaText } from "../schema-text.ts";
import { keyTypesOf } from "./key-types.ts";
import { migrationText } from "./migration-text.ts";
import { onInterface, refuseStaleInterface } from "./on-interface.ts";
import { planSchemaFile } from "./plan-schema-file.ts";
import {
  databaseUri,
  flagError,
  isOn,
  itemsOf,
  listFlag,
  readSqlSettings,
  type SqlFlag,
  switchFlag,
} from "./sql-settings.ts";

const flags = new Map<string, SqlFlag>([
  ["schema", { isRequired: true }],
  ["wrappers", switchFlag],
  ["key", listFlag],
  ...clusterFlag,
]);

export const generate: Command = {
  name: "generate",
  summary: "print the functions of a schema as a migration",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba sql generate --schema FILE [flags]

Prints what \`pemba sql sync --schema\` makes as SQL, and changes nothing. It can be kept as a migration,
and be run again. Run it before the schema is written, as the owner of the database schema
\`pemba_plans\`.

  --schema    the file of the schema
  --wrappers  also functions with keys of the application's types. For each question two:
              visible_TYPE_PERMISSION(tenant, subject) and may_TYPE_PERMISSION(tenant, id, subject)
  --key       TYPE=SQLTYPE: the type of the key of an entity type, of ${keyTypes.join(", ")} (text
              where none is given); may be given several times

  pemba sql generate --schema app.perm --wrappers --key document=uuid > permissions.sql

  select d.* from app.documents d
  join pemba.visible_document_view('t1', 'ada') v(id) on v.id = d.id;

Wrappers of subjects other than \`user\` have the subject in their names. If a name in the schema has an
underscore, two of them part the names: may_document__can_view.

The functions fit the database of the configuration: --database-uri, or a variable or file as for serve.
If it has several clusters (\`database.clusters\`), --cluster NAME says which one.`,

  async run(args) {
    const settings = readSqlSettings("generate", args, flags);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, values } = settings;
    const hasWrappers = isOn(values, "wrappers");
    const keys = keyTypesOf(itemsOf(values, "key"));
    if (keys.size > 0 && !hasWrappers) throw flagError("key", "goes only with --wrappers");
    const file = values.get("schema") ?? "";
    const text = readSchemaText(file, "--schema");
    const url = databaseUri({ config, values });
    await refuseStaleInterface(config, url);
    await onInterface(config, url, async (sqlInterface, { names }) => {
      const planned = await planSchemaFile(sqlInterface, { file, text });
      refuseUnusedKeys(planned, keys);
      say(migration(planned, names, hasWrappers ? keys : undefined));
    });
    return 0;
  },
};

function refuseUnusedKeys(
  { questions }: PlannedQuestions,
  keys: ReadonlyMap<string, string>,
): void {
  const types = new Set(questions.map(({ question }) => question.entityType));
  const unused = [...keys.keys()].find((type) => !types.has(type));
  if (unused === undefined) return;
  throw flagError("key", `no question of the schema is about the entity type \`${unused}\``);
}

const lockFile = statementFile("interface/lock-functions.sql");

/** `keys` are the types of keys for wrappers; undefined: without wrappers. */
function migration(
  { questions, functions }: PlannedQuestions,
  names: InterfaceNames,
  keys: ReadonlyMap<string, string> | undefined,
): string {
  const wrappers =
    keys === undefined
      ? []
      : questions
          .filter(({ plans }) => "may" in plans && "visible" in plans)
          .map(({ question }) =>
            wrappersOf(question, names.entry, keys.get(question.entityType) ?? "text"),
          );
  return migrationText(
    [
      "Functions of Pemba's SQL interface for a schema, made before the schema is written. They answer",
      "nothing until it is the schema of a tenant.",
      ...wrapperNotes(wrappers),
    ],
    [
      filled(lockFile, { ...names }).trimEnd(),
      ...planStatements(names.plans, [...functions.values()]),
      ...wrappers.flatMap(({ statements }) => statements),
    ],
  );
}

function wrapperNotes(wrappers: readonly Wrappers[]): readonly string[] {
  if (wrappers.length === 0) return [];
  return [
    "",
    "Wrappers call what applications call, with the rights of their caller. A role needs the rights of",
    "`pemba sql grant --role ROLE --for ask`, and `execute` on those that it calls:",
    ...wrappers.flatMap(({ signatures }) => signatures.map((signature) => `  ${signature}`)),
    "If a key gets another type, drop its wrappers before.",
  ];
}
