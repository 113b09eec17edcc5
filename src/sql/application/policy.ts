import { must } from "../../base/assert.ts";
import { keyOf } from "../list/list-key.ts";
import { quotedName, quotedText } from "../text/quote.ts";

/** The commands that a policy can be for. */
export const policyCommands = ["select", "insert", "update", "delete", "all"] as const;

export type PolicyCommand = (typeof policyCommands)[number];

/** How a policy finds the rows that are there. */
export const policyForms = ["set", "check"] as const;

export type PolicyForm = (typeof policyForms)[number];

/** A row security policy of an application's table. */
export interface RowPolicy {
  readonly name: string;
  readonly table: { readonly schema: string; readonly name: string };
  /** The column with the id of the entity, and its type, one of `keyTypes`. */
  readonly key: { readonly name: string; readonly type: string };
  readonly command: PolicyCommand;
  readonly form: PolicyForm;
  /** The database schema of the functions that applications call. */
  readonly entry: string;
  readonly tenant: string;
  readonly question: {
    readonly entityType: string;
    readonly permission: string;
    readonly subjectType: string;
  };
}

/** The statements, without semicolons, that make the policy anew and switch row security on. */
export function policyStatements(policy: RowPolicy): readonly string[] {
  const { command, form } = policy;
  const table = `${quotedName(policy.table.schema)}.${quotedName(policy.table.name)}`;
  const name = quotedName(policy.name);
  // A new row is in no set of before, so its own check decides.
  const present = form === "set" ? isInSet(policy) : isChecked(policy);
  return [
    // What is not written with its schema is Postgres's own.
    "set local search_path to pg_catalog, pg_temp",
    `drop policy if exists ${name} on ${table}`,
    [
      `create policy ${name} on ${table}`,
      `as permissive for ${command} to public`,
      ...(command === "insert" ? [] : [`using (\n${present}\n)`]),
      ...(["insert", "update", "all"].includes(command)
        ? [`with check (\n${isChecked(policy)}\n)`]
        : []),
    ].join("\n"),
    `alter table ${table} enable row level security`,
  ];
}

function isInSet({ key, entry, tenant, question }: RowPolicy): string {
  const { entityType, permission, subjectType } = question;
  const texts = [tenant, entityType, permission, subjectType].map(quotedText).join(", ");
  const ids = `${quotedName(entry)}.visible_ids(${texts}, ${subjectOf(entry)})`;
  const column = quotedName(key.name);
  // In a query of its own, the function is called once for a statement and not for each row.
  if (key.type === "text" || key.type === "character varying") {
    return `  ${column} = any (\n    (select ${ids})::text[]\n  )`;
  }
  // The ids are converted and not the column, so that an index on the column serves.
  const value = must(keyOf(key.type, "visible.id"), "the type can be that of a key");
  return [
    `  ${column} = any (`,
    "    (select array(",
    `      select ${value}`,
    `      from unnest(${ids}) as visible(id)`,
    `    ))::${key.type}[]`,
    "  )",
  ].join("\n");
}

function isChecked({ key, entry, tenant, question }: RowPolicy): string {
  const { entityType, permission, subjectType } = question;
  const id = `${quotedName(key.name)}::text`;
  const before = `${quotedText(tenant)}, ${quotedText(entityType)}, ${id}`;
  const after = `${quotedText(permission)}, ${quotedText(subjectType)}, ${subjectOf(entry)}`;
  return `  ${quotedName(entry)}.may(\n    ${before}, ${after}\n  )`;
}

function subjectOf(entry: string): string {
  return `(select ${quotedName(entry)}.subject())`;
}
