import { quote } from "../../base/quote.ts";
import { configFlags } from "../../config/load.ts";
import type { Config } from "../../config/options.ts";
import {
  type PolicyCommand,
  policyCommands,
  type PolicyForm,
  policyForms,
  policyStatements,
} from "../../sql/application/policy.ts";
import { keyTypes } from "../../sql/list/list-key.ts";
import { quotedName } from "../../sql/text/quote.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import type { ParameterValue } from "../../store/postgres/connect/value.ts";
import {
  type ApplicationTable,
  readTable,
  tableNames,
} from "../../store/postgres/sql-interface/application-table.ts";
import { readInterface } from "../../store/postgres/sql-interface/install.ts";
import { questionProblem } from "../../store/postgres/sql-interface/policy-target.ts";
import type { Command } from "../command.ts";
import { clusterFlag } from "../databases.ts";
import { complain, say, warn } from "../output.ts";
import { nameOf } from "./list-names.ts";
import { migrationText } from "./migration-text.ts";
import { policyNotes } from "./policy-notes.ts";
import { databaseUri, flagError, madeName, readSqlSettings, type SqlFlag } from "./sql-settings.ts";
import { tableNameOf } from "./table-name.ts";

const flags = new Map<string, SqlFlag>([
  ["table", { isRequired: true }],
  ["key", { isRequired: true }],
  ["type", { isRequired: true }],
  ["permission", { isRequired: true }],
  ["form", { isRequired: true, allowed: policyForms }],
  ["tenant", { isRequired: true }],
  ["subject", {}],
  ["for", { allowed: policyCommands }],
  ["name", {}],
  ...clusterFlag,
]);

/** The values of the flags, read. */
interface AskedPolicy {
  /** The parts of its name. */
  readonly table: readonly string[];
  readonly key: string;
  readonly tenant: string;
  readonly question: {
    readonly entityType: string;
    readonly permission: string;
    readonly subjectType: string;
  };
  readonly form: PolicyForm;
  readonly command: PolicyCommand;
  readonly name: string;
}

export const policy: Command = {
  name: "policy",
  summary: "print a row security policy for a table",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba sql policy --table T --key COLUMN --type TYPE --permission NAME
                       --form set|check --tenant TENANT [flags]

Prints SQL that makes a policy and enables row security on the table, and changes nothing. Keep the
SQL as a migration of the application; it can be run again.

  --table       the table, such as app.documents
  --key         the column with the id of the entity: ${keyTypes.join(", ")}
  --type        the entity type of the rows
  --permission  the permission or relation
  --form        set:   finds all ids that the subject sees, once for a query, then their rows
                check: asks for each row that the other conditions of a query leave
  --tenant      the id of the tenant
  --subject     the type of the subject (default user)
  --for         select (default), insert, update, delete or all; rows that are written are always
                asked in the form check
  --name        the name of the policy (default pemba_PERMISSION_FOR)

Names of tables, columns and policies are spelled as in SQL: without double quotes they are in lower
case.

  pemba sql policy --table app.documents --key id --type document --permission view \\
    --form set --tenant t1 --database-uri postgres://pemba@localhost/app > row-security.sql

  begin;
  set local pemba.subject = 'ada';
  select * from app.documents;
  commit;

The table is read from the database of the configuration: --database-uri, or a variable or file as for
serve. If it has several clusters (\`database.clusters\`), --cluster NAME says which one. The subject's
setting is that of \`database.sql.subject\`.`,

  async run(args) {
    const settings = readSqlSettings("policy", args, flags);
    if (settings.kind === "problems") return complain(...settings.problems);
    settings.warnings.forEach(warn);
    const { config, values } = settings;
    const asked = askedPolicy(values);
    const url = databaseUri({ config, values });
    const { names, installed } = await readInterface(url, config["database.sql.schema"]);
    await onDatabase(url, async (database) => {
      const read = async (statement: string, given: readonly ParameterValue[]) =>
        await database.query(statement, given);
      const table = fit(await readTable(read, tableNames(asked.table, database.schemas)), asked);
      const problem =
        installed === undefined
          ? "the SQL interface is not installed: run `pemba sql enable` before the statements"
          : await questionProblem(database, names, { tenant: asked.tenant, ...asked.question });
      if (problem !== undefined) warn(problem);
      say(policyText(config, asked, table));
    });
    return 0;
  },
};

function askedPolicy(values: ReadonlyMap<string, string>): AskedPolicy {
  const value = (flag: string): string => values.get(flag) ?? "";
  const table = tableNameOf(value("table"));
  if (table === undefined) {
    throw flagError(
      "table",
      `${quote(value("table"))} is no name of a table, such as app.documents`,
    );
  }
  const key = nameOf(value("key"));
  if (key === undefined) throw flagError("key", `${quote(value("key"))} is no name of a column`);
  const command = policyCommands.find((each) => each === value("for")) ?? "select";
  const permission = schemaName(values, "permission");
  return {
    table,
    key,
    tenant: value("tenant"),
    question: {
      entityType: schemaName(values, "type"),
      permission,
      subjectType: values.has("subject") ? schemaName(values, "subject") : "user",
    },
    form: policyForms.find((each) => each === value("form")) ?? "set",
    command,
    name: madeName(values.get("name"), `pemba_${permission}_${command}`),
  };
}

function schemaName(values: ReadonlyMap<string, string>, flag: string): string {
  const text = values.get(flag) ?? "";
  if (/^[a-zA-Z_]{1,64}$/.test(text)) return text;
  throw flagError(flag, `${quote(text)} is no name of a schema: 1 to 64 letters and underscores`);
}

const tableKinds = ["r", "p"];

/** The table, if it can have the policy. */
function fit(table: ApplicationTable | undefined, { table: parts, key }: AskedPolicy) {
  const named = parts.map(quotedName).join(".");
  if (table === undefined) throw flagError("table", `${quote(named)} does not exist`);
  if (!tableKinds.includes(table.kind)) {
    throw flagError("table", `${quote(named)} is not a table, and only tables have row security`);
  }
  const column = table.columns.get(key);
  if (column === undefined) {
    throw flagError("key", `the table ${quote(named)} has no column ${quote(key)}`);
  }
  if (!keyTypes.includes(column.type)) {
    throw flagError(
      "key",
      `the column ${quote(key)} has the type ${column.type}, expected ${keyTypes.join(", ")}`,
    );
  }
  if (!column.isExact) {
    throw flagError(
      "key",
      `the column ${quote(key)} has a collation under which different ids are equal`,
    );
  }
  return { ...table, keyType: column.type };
}

function policyText(
  config: Config,
  { key, command, form, tenant, question, name }: AskedPolicy,
  table: ReturnType<typeof fit>,
): string {
  const notes = policyNotes({
    form,
    command,
    permission: question.permission,
    subject: config["database.sql.subject"],
    visibleMax: config["database.sql.visible_max"],
    hasParts: table.hasParts,
  });
  const statements = policyStatements({
    name,
    table,
    key: { name: key, type: table.keyType },
    command,
    form,
    entry: config["database.sql.schema"],
    tenant,
    question,
  });
  return migrationText(notes, statements);
}
