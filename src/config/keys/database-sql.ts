import { boolean, integer, type Kind, listOf, oneOf, scalar } from "../kind.ts";
import { option } from "../option.ts";
import { questionPattern } from "../question-pattern.ts";
import { subjectSource } from "../subject-source.ts";

/** Room for `_plans` in a name of at most 63 bytes. */
const schemaName: Kind<string> = {
  expected: "1 to 57 lower-case letters, digits and underscores, not beginning with a digit or pg_",
  schema: { type: scalar, pattern: "^(?!pg_)[a-z_][a-z0-9_]{0,56}$" },
  read: (text) => (/^(?!pg_)[a-z_][a-z0-9_]{0,56}$/.test(text) ? text : undefined),
};

/** Permissions in the application's own SQL. */
export const databaseSqlOptions = {
  "database.sql.enabled": option(boolean, {
    flag: "database-sql-enabled",
    default: "false",
    about:
      "whether applications can ask for permissions in their own SQL, by functions in the database; needs Postgres",
  }),
  "database.sql.schema": option(schemaName, {
    flag: "database-sql-schema",
    default: "pemba",
    about:
      "database schema of the functions that applications call; what these need is in a second one, whose name ends in `_plans`",
  }),
  "database.sql.sync": option(oneOf("write", "command"), {
    flag: "database-sql-sync",
    default: "write",
    about:
      "who makes the functions of a new schema version: the server with the write, or `pemba sql sync` before it",
  }),
  "database.sql.questions": option(listOf(questionPattern), {
    flag: "database-sql-questions",
    default: "",
    about:
      "what can be asked in SQL; empty for every permission and each type that is a direct subject in the schema, at most 200",
  }),
  "database.sql.depth": option(integer({ from: 1, to: 2_147_483_647 }), {
    flag: "database-sql-depth",
    default: "100",
    about: "most hops of a path in an answer in SQL; a longer path is an error",
  }),
  "database.sql.subject": option(subjectSource, {
    flag: "database-sql-subject",
    default: "setting:pemba.subject",
    about: "where SQL without a named subject finds the id of the subject",
  }),
  "database.sql.bound": option(boolean, {
    flag: "database-sql-bound",
    default: "false",
    about: "whether there are functions that take tenant and subject from settings alone",
  }),
  "database.sql.visible_max": option(integer({ from: 1, to: 10_000_000 }), {
    flag: "database-sql-visible-max",
    default: "200000",
    about: "maximum ids that `visible_ids` returns; more are an error",
  }),
  "database.sql.history": option(boolean, {
    flag: "database-sql-history",
    default: "false",
    about:
      "whether states of the past can be asked in SQL; not available yet, so only false is allowed",
  }),
} as const;
