import { configFlags } from "../../config/load.ts";
import type { Command } from "../command.ts";
import { clusterFlag, oneDatabaseHelp } from "../databases.ts";
import { complain, say, warn } from "../output.ts";
import { nameOf, orderOf } from "./list-names.ts";
import { type AskedList, printList } from "./list-print.ts";
import { unaskedProblem } from "./list-question.ts";
import { readingDatabase } from "./list-table.ts";
import { databaseUri, flagError, madeName, readSqlSettings, type SqlFlag } from "./sql-settings.ts";

const flags = new Map<string, SqlFlag>([
  ["table", { isRequired: true }],
  ["key", { isRequired: true }],
  ["type", { isRequired: true }],
  ["permission", { isRequired: true }],
  ["order", { isRequired: true }],
  ["name", { isRequired: true }],
  ["subject", {}],
  ["where", {}],
  ...clusterFlag,
]);

export const list: Command = {
  name: "list",
  summary: "print a function that lists rows of a table page by page",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba sql list --table T --key COLUMN --type TYPE --permission NAME
                     --order COLUMNS --name NAME [flags]

Prints SQL that makes a function. It returns the rows of a table on which a subject has a permission,
in any order that has an index, page by page. Keep the SQL as a migration. The command changes nothing.

  --table       the table, such as app.documents
  --key         the column with the id of the entity: text, varchar, uuid or an integer
  --type        the entity type of the rows
  --permission  the permission or relation
  --order       columns as in \`order by\`; the key decides last, and is added if it is missing
  --name        the name of the function
  --subject     the type of the subject (default user)
  --where       a condition on the rows; each \`$name\` in it is a parameter of the function. Functions,
                operators and types in it are those of Postgres: write the schema of others, such as
                app.plain(title) and operator(app.=)

  pemba sql list --table app.documents --key id --type document --permission view \\
    --order 'created_at desc' --name documents --where 'status = $status' > documents.sql

  select * from pemba.documents('t1', 'ada', null, null, 20, 'open');

The parameters are the tenant, the subject, the values of the order's columns of the last row of the
page before (all null for the first page), how many rows are wanted (10,000 at most), and those of the
condition.

The function runs as the role that makes it. That role needs to read the table, and the rights of
\`pemba sql grant --for list\`. Grant the right to call the function to the roles that need it.

${oneDatabaseHelp}`,

  async run(args) {
    const settings = readSqlSettings("list", args, flags);
    if (settings.kind === "problems") return complain(...settings.problems);
    const { config, values, warnings } = settings;
    warnings.forEach(warn);
    const url = databaseUri({ config, values });
    const asked = askedList(values);
    const printed = await readingDatabase(
      url,
      async (reading) => await printList(reading, config["database.sql.schema"], asked),
    );
    printed.warnings.forEach(warn);
    const problem = await unaskedProblem(url, config["database.sql.schema"], asked.question);
    if (problem !== undefined) warn(problem);
    say(printed.text);
    return 0;
  },
};

const names = /^[a-zA-Z_]{1,64}$/;

function askedList(values: ReadonlyMap<string, string>): AskedList {
  const value = (flag: string): string => values.get(flag) ?? "";
  const key = nameOf(value("key"));
  if (key === undefined) throw flagError("key", "expected a column");
  const order = orderOf(value("order"));
  if (order === undefined)
    throw flagError("order", "expected columns, such as `created_at desc, id`");
  const name = madeName(value("name"));
  const question = {
    entityType: value("type"),
    permission: value("permission"),
    subjectType: values.get("subject") ?? "user",
  };
  for (const [flag, text] of [
    ["type", question.entityType],
    ["permission", question.permission],
    ["subject", question.subjectType],
  ] as const) {
    if (!names.test(text))
      throw flagError(flag, "expected a name of the schema: 1 to 64 letters or `_`");
  }
  return {
    table: value("table"),
    key,
    order,
    name,
    where: (values.get("where") ?? "").trim(),
    question,
  };
}
