import { dollarQuoted, quotedName, quotedText } from "../text/quote.ts";
import { former, latter, mapFunctionBody } from "./map-function.ts";
import { derivedJson, mappedTable, soleTenant, type TableMap } from "./table-map.ts";

/**
 * Rows are read by the index of the key, also when the first statement of a session changed many. An owner
 * of the table whom row security binds gets an error, and no rows are hidden.
 */
const settings: Readonly<Record<string, string>> = {
  row_security: "off",
  jit: "off",
  enable_seqscan: "off",
};

const events = ["insert", "update", "delete", "truncate"] as const;

type MapEvent = (typeof events)[number];

const moments: Readonly<Record<MapEvent, string>> = {
  insert: "after insert",
  update: "after update",
  delete: "after delete",
  truncate: "before truncate",
};

const transitions: Readonly<Record<MapEvent, string>> = {
  insert: `\nreferencing new table as ${latter}`,
  update: `\nreferencing old table as ${former} new table as ${latter}`,
  delete: `\nreferencing old table as ${former}`,
  truncate: "",
};

/**
 * The statements, without semicolons, that make the function and the triggers of a map anew.
 *
 * @param entry the database schema of the functions that applications call
 * @param definition the map as its file has it, as JSON
 */
export function mapStatements(map: TableMap, entry: string, definition: string): readonly string[] {
  const call = functionName(map, entry);
  const table = mappedTable(map);
  const noted = [map.name, `${map.table.schema}.${map.table.name}`].map(quotedText).join(", ");
  const tenant = quotedText(soleTenant(map) ?? "");
  return [
    // What is not written with its schema is Postgres's own.
    "set local search_path to pg_catalog, pg_temp",
    `create or replace function ${call}()
returns trigger
language plpgsql volatile security definer
set search_path to pg_catalog, pg_temp
${settingsText(map)}
as ${dollarQuoted(mapFunctionBody(map, entry), "map")}`,
    `revoke execute on function ${call}() from public`,
    ...events.flatMap((event) => [
      `drop trigger if exists ${triggerName(map, event)} on ${table}`,
      `create trigger ${triggerName(map, event)}
${moments[event]} on ${table}${transitions[event]}
for each statement execute function ${call}()`,
    ]),
    `select ${quotedName(entry)}.keep_map(
  ${noted},
  ${quotedText(definition)},
  ${tenant},
  ${quotedText(derivedJson(map))}
)`,
  ];
}

/** The statements, without semicolons, that drop what `mapStatements` makes. Without a table, triggers are gone. */
export function dropMapStatements(
  { name, table }: { readonly name: string; readonly table: TableMap["table"] | undefined },
  entry: string,
): readonly string[] {
  return [
    ...(table === undefined
      ? []
      : events.map(
          (event) =>
            `drop trigger if exists ${triggerName({ name }, event)} on ${mappedTable({ table })}`,
        )),
    `drop function if exists ${functionName({ name }, entry)}()`,
    `select ${quotedName(entry)}.drop_map(${quotedText(name)})`,
  ];
}

/** A setting of the session must not change the text of a number. */
function settingsText({ attributes }: TableMap): string {
  const hasNumbers = attributes.some(({ valueType }) => valueType.startsWith("double"));
  const all = { ...settings, ...(hasNumbers && { extra_float_digits: "1" }) };
  return Object.entries(all)
    .map(([name, value]) => `set ${name} to ${quotedText(value)}`)
    .join("\n");
}

function functionName({ name }: Pick<TableMap, "name">, entry: string): string {
  return `${quotedName(entry)}.${quotedName(`map_${name}`)}`;
}

function triggerName({ name }: Pick<TableMap, "name">, event: MapEvent): string {
  return quotedName(`pemba_${name}_${event}`);
}
