import type postgres from "postgres";

import type { AttributeType, AttributeValue } from "../../src/base/tuple.ts";
import type { Condition, ConditionInput } from "../../src/condition/condition.ts";
import { translateCondition } from "../../src/sql/condition/translate.ts";
import {
  type Fragment,
  identifier,
  join,
  literal,
  param,
  render,
  sql,
} from "../../src/sql/text/fragment.ts";
import { arrayLiteral } from "../../src/store/postgres/connect/value.ts";

const sqlTypes = {
  boolean: sql`boolean`,
  "boolean[]": sql`boolean[]`,
  string: sql`text`,
  "string[]": sql`text[]`,
  integer: sql`bigint`,
  "integer[]": sql`bigint[]`,
  double: sql`double precision`,
  "double[]": sql`double precision[]`,
} as const satisfies Record<AttributeType, Fragment>;

/** A condition as SQL, or why it has none. */
export function explainTranslation(condition: Condition): string {
  const translation = translateCondition(condition.tree, {
    parameter: (name) => identifier(name),
    data: identifier("data"),
  });
  return translation.kind === "sql" ? render(translation.expression).text : translation.reason;
}

/** How the data of a context come to Postgres. */
export interface DataForm {
  readonly textOf: (data: ConditionInput["data"]) => string;
  /** The data as `jsonb`. */
  readonly read: (text: Fragment) => Fragment;
}

/** As the service sends them. */
const sentData: DataForm = { textOf: JSON.stringify, read: (text) => sql`${text}::jsonb` };

/**
 * What Postgres makes of a condition for each input: null is a fault; undefined when the condition
 * has no SQL. The inputs are rows of a table, as attributes are in a check.
 */
export async function evaluateRows(
  database: postgres.Sql,
  condition: Condition,
  inputs: readonly ConditionInput[],
  form = sentData,
): Promise<readonly (boolean | null)[] | undefined> {
  const types = [...condition.parameters];
  const translation = translateCondition(condition.tree, {
    parameter: (name) => sql`v.${identifier(name)}`,
    data: sql`v.data`,
  });
  if (translation.kind === "untranslatable") return undefined;
  const names = [...types.map(([name]) => name), "data"];
  const columns = [
    ...types.map(
      ([name, type]) =>
        sql`r.${identifier(name)}::${sqlTypes[type]}${type.startsWith("string") ? sql` collate "C"` : sql``} as ${identifier(name)}`,
    ),
    sql`${form.read(sql`r.data`)} as data`,
  ];
  const arrays = names.map((name) => param(name, "text[]"));
  const statement = render(
    sql`select ${translation.expression} as result from (select ${join(columns, ", ")}, r.position from unnest(${join(arrays, ", ")}) with ordinality as r(${join(names.map(identifier), ", ")}, position) offset 0) v order by v.position`,
  );
  const values = statement.params.map((name) => inputs.map((input) => textOf(input, name, form)));
  const rows = await database.unsafe(statement.text, values);
  return rows.map((row) => (typeof row["result"] === "boolean" ? row["result"] : null));
}

/** The same for one input that stands in the statement as constants, which the planner may fold. */
export async function evaluateConstants(
  database: postgres.Sql,
  condition: Condition,
  input: ConditionInput,
  form = sentData,
): Promise<boolean | null | undefined> {
  const translation = translateCondition(condition.tree, {
    parameter: (name) => {
      const type = condition.parameters.get(name) ?? "string";
      const value = sql`${literal(textOf(input, name, form))}::${sqlTypes[type]}`;
      return type.startsWith("string") ? sql`(${value} collate "C")` : sql`(${value})`;
    },
    data: sql`(${form.read(literal(form.textOf(input.data)))})`,
  });
  if (translation.kind === "untranslatable") return undefined;
  const statement = render(sql`select ${translation.expression} as result`);
  const [row] = await database.unsafe(statement.text);
  return typeof row?.["result"] === "boolean" ? row["result"] : null;
}

function textOf(input: ConditionInput, name: string, form: DataForm): string {
  const value = input.parameters.get(name);
  return value === undefined ? form.textOf(input.data) : attributeText(value);
}

function attributeText(value: AttributeValue): string {
  switch (value.type) {
    case "boolean":
    case "integer":
    case "double":
    case "string":
      return String(value.data);
    case "boolean[]":
    case "integer[]":
    case "double[]":
    case "string[]":
      return arrayLiteral(value.data.map(String));
  }
}
