import { quotedName, quotedText } from "../text/quote.ts";
import {
  changeCall,
  elementColumns,
  elementsQuery,
  groupColumns,
  keyNames,
  mappedTable,
  rowsQuery,
  soleTenant,
  type TableMap,
} from "./table-map.ts";

/** The transition tables of the triggers: rows as they were, and as the statement left them. */
export const former = "pemba_former";
export const latter = "pemba_latter";

/**
 * The body of the function that the triggers of a map call.
 *
 * What the table has after the statement decides, and not what the statement made of a row: a trigger of
 * the application may have changed the row again, and of one `merge` the rows that it inserted come before
 * those that it deleted.
 *
 * @param entry the database schema of the functions that applications call
 */
export function mapFunctionBody(map: TableMap, entry: string): string {
  return `declare
  change record;
  -- The assignment of an expression is evaluated directly. \`perform\` would run a query.
  changed integer;
begin
  if tg_op = 'INSERT' then
${indented(onInsert(map, entry), 2)}
  elsif tg_op = 'UPDATE' then
    -- Most updates change no column of the map.
    perform from (
${indented(rowsQuery(map, `${former} as r`), 3)}
      except all
${indented(rowsQuery(map, `${latter} as r`), 3)}
    ) as r;
    if not found then
      return null;
    end if;
${indented(onUpdate(map, entry), 2)}
  elsif tg_op = 'DELETE' then
${indented(onDelete(map, entry), 2)}
  else
${indented(onTruncate(map, entry), 2)}
  end if;
  return null;
end`;
}

/**
 * All that the rows give is made, so no element is compared with another one: each column becomes a list, and
 * the lists of all columns stand one after the other.
 */
function onInsert(map: TableMap, entry: string): string {
  const keys = map.key.map(({ name }, index) => `r.${quotedName(name)} as k${index + 1}`);
  const calls = [
    ...(map.tuples.length > 0 ? [insertCall(map, entry, false)] : []),
    ...(map.attributes.length > 0 ? [insertCall(map, entry, true)] : []),
  ].join("\n");
  const parts = `with touched as (select ${keys.join(", ")} from ${latter} as r),
present as (
${indented(present(map), 1)}
  -- So that an id or a value is made once, and not for each list.
  offset 0
)`;
  const lists = insertedLists(map).join(",\n  ");
  const from = "from present as s\nwhere s.entity_id is not null";
  const tenant = soleTenant(map);
  if (tenant !== undefined) {
    // Groups and a loop take a tenth of the time of a statement that changes one row.
    return `${parts}
select ${quotedText(tenant)} as tenant,
  ${lists}
into change
${from};
${calls}`;
  }
  return `for change in
${indented(parts, 1)}
  select s.tenant,
${indented(lists, 2)}
${indented(from, 1)} and s.tenant is not null
  group by s.tenant
  order by s.tenant
loop
${indented(calls, 1)}
end loop;`;
}

function insertCall(map: TableMap, entry: string, isAttribute: boolean): string {
  const prefix = isAttribute ? attributeLists : "";
  return `if change.${prefix}entity_ids is not null then
  changed := ${changeCall(map, "create", { entry, group: "change", isAttribute, prefix })};
end if;`;
}

/** What the names of the lists of attributes begin with, beside those of tuples. */
const attributeLists = "attribute_";

function insertedLists({ tuples, attributes }: TableMap): readonly string[] {
  const ofTuples = tuples.map(({ relation, subjectType, subjectRelation }, index) => ({
    value: `s.s${index + 1}`,
    name: relation,
    type: subjectType,
    relation: subjectRelation,
  }));
  const ofAttributes = attributes.map(({ name, valueType }, index) => ({
    value: `s.v${index + 1}`,
    name,
    type: valueType,
    relation: "",
  }));
  return [...listsOf(ofTuples, ""), ...listsOf(ofAttributes, attributeLists)];
}

/** A column of the query of rows, and what all of its elements have. */
interface GivenColumn {
  readonly value: string;
  readonly name: string;
  readonly type: string;
  readonly relation: string;
}

function listsOf(columns: readonly GivenColumn[], prefix: string): readonly string[] {
  if (columns.length === 0) return [];
  const joined = (list: (column: GivenColumn) => string, as: string): string =>
    `${columns.map(list).join(" || ")} as ${prefix}${as}`;
  const ofRows = (value: string, given: string): string =>
    `array_agg(${value}) filter (where ${given} is not null)`;
  const repeated = (text: string, given: string): string =>
    `array_fill(${quotedText(text)}::text, array[count(${given})::integer])`;
  return [
    joined(({ value }) => ofRows("s.entity_id", value), "entity_ids"),
    joined(({ value, name }) => repeated(name, value), "names"),
    joined(({ value, type }) => repeated(type, value), "types"),
    joined(({ value }) => ofRows(value, value), "ids"),
    joined(({ value, relation }) => repeated(relation, value), "relations"),
  ];
}

function onUpdate(map: TableMap, entry: string): string {
  const keys = keyNames(map).join(", ");
  return changes(map, entry, {
    actions: ["delete", "create"],
    parts: [
      part("former_rows", rowsQuery(map, `${former} as r`)),
      part("latter_rows", rowsQuery(map, `${latter} as r`)),
      "gone as materialized (select * from former_rows except all select * from latter_rows)",
      "made as materialized (select * from latter_rows except all select * from former_rows)",
      `touched as (select ${keys} from gone union select ${keys} from made)`,
      part("present", present(map)),
      part("given", elementsQuery(map, "gone")),
      part("now_given", elementsQuery(map, "present")),
    ],
    found: `${noLongerGiven(map)}
union all
select true as is_made, c.*
from (select * from now_given except select * from given) as c`,
  });
}

function onDelete(map: TableMap, entry: string): string {
  return changes(map, entry, {
    actions: ["delete"],
    parts: [
      part("gone", rowsQuery(map, `${former} as r`)),
      `touched as (select distinct ${keyNames(map).join(", ")} from gone)`,
      part("present", present(map)),
      part("given", elementsQuery(map, "gone")),
      part("now_given", elementsQuery(map, "present")),
    ],
    found: noLongerGiven(map),
  });
}

function onTruncate(map: TableMap, entry: string): string {
  if (map.truncate === "delete") {
    return `perform ${quotedName(entry)}.delete_all_derived(${quotedText(map.name)});`;
  }
  const message = `the table ${map.table.schema}.${map.table.name} cannot be truncated: the map \`${map.name}\` derives permission data from its rows`;
  return `raise exception using
  errcode = 'object_not_in_prerequisite_state',
  message = ${quotedText(message)},
  hint = 'delete the rows, or give the map \`truncate: delete\`';`;
}

/** The rows that the table has under the keys that the statement touched. */
function present(map: TableMap): string {
  const same = map.key.map(({ name }, index) => `r.${quotedName(name)} = t.k${index + 1}`);
  // A subquery for each key, which reads the index, also when there were many keys the first time.
  const rows = `touched as t
cross join lateral (
  select r.* from ${mappedTable(map)} as r where ${same.join(" and ")} offset 0
) as r`;
  return rowsQuery(map, rows);
}

/** An attribute that gets another value is only set. */
function noLongerGiven({ attributes }: TableMap): string {
  const all = `select false as is_made, c.*
from (select * from given except select * from now_given) as c`;
  if (attributes.length === 0) return all;
  return `${all}
where not c.is_attribute or not exists (
  select
  from now_given as a
  where a.is_attribute and (a.tenant, a.entity_id, a.name) = (c.tenant, c.entity_id, c.name)
)`;
}

/** The statement that finds what has changed, and the calls that change it. */
function changes(
  map: TableMap,
  entry: string,
  query: {
    readonly actions: readonly ("create" | "delete")[];
    readonly parts: readonly string[];
    readonly found: string;
  },
): string {
  const kinds = [
    ...(map.tuples.length > 0 ? [false] : []),
    ...(map.attributes.length > 0 ? [true] : []),
  ];
  const from = `from (
${indented(query.found, 1)}
) as c(is_made, ${elementColumns.join(", ")})`;
  const parts = `with ${query.parts.join(",\n")}`;
  const [action, ...others] = query.actions;
  const tenant = soleTenant(map);
  if (action !== undefined && others.length + kinds.length === 1 && tenant !== undefined) {
    // Groups and a loop take a tenth of the time of a statement that changes one row.
    const isAttribute = map.attributes.length > 0;
    return `${parts}
select ${quotedText(tenant)} as tenant, ${groupColumns}
into change
${from};
if change.entity_ids is not null then
  changed := ${changeCall(map, action, { entry, group: "change", isAttribute })};
end if;`;
  }
  const calls = query.actions.flatMap((each) =>
    kinds.map((isAttribute) => {
      const isMade = each === "create" ? "change.is_made" : "not change.is_made";
      const ofKind = isAttribute ? "change.is_attribute" : "not change.is_attribute";
      return `if ${isMade} and ${ofKind} then
  changed := ${changeCall(map, each, { entry, group: "change", isAttribute })};
end if;`;
    }),
  );
  return `for change in
${indented(parts, 1)}
  select c.is_made, c.is_attribute, c.tenant, ${groupColumns}
${indented(from, 1)}
  group by c.is_made, c.is_attribute, c.tenant
  order by c.tenant, c.is_made, c.is_attribute
loop
${indented(calls.join("\n"), 1)}
end loop;`;
}

function part(name: string, query: string): string {
  return `${name} as materialized (\n${indented(query, 1)}\n)`;
}

function indented(text: string, levels: number): string {
  return text.replaceAll(/^(?=.)/gm, "  ".repeat(levels));
}
