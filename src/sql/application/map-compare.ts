import { must } from "../../base/assert.ts";
import { quotedName, quotedText } from "../text/quote.ts";
import { columnValue, idText } from "./id-template.ts";
import type { MapPlaces } from "./map-load.ts";
import {
  changeCall,
  elementColumns,
  elementsQuery,
  groupColumns,
  keyNames,
  mappedTable,
  type MapTuple,
  rowsQuery,
  soleTenant,
  type TableMap,
} from "./table-map.ts";

/**
 * A query of the differences between what the rows of a table give and what is stored: the columns of
 * elements, `is_missing`, and the key of the row of a missing one as texts, `k1` and so on. Rows of
 * tenants that do not exist give nothing.
 */
export function differences(map: TableMap, places: MapPlaces): string {
  const tables = quotedName(places.tables);
  const columns = elementColumns.map((name) => `coalesce(g.${name}, h.${name}) as ${name}`);
  const same = elementColumns.map((name) => `h.${name} = g.${name}`);
  const keys = keyNames(map).map((name) => `s.${name}::text as ${name}`);
  const labels = map.tuples.map(
    ({ relation, subjectType, subjectRelation }) => `${relation}@${subjectType}#${subjectRelation}`,
  );
  // A row gives a tuple twice if two columns of one kind have the same id.
  const given = new Set(labels).size < labels.length ? "select distinct s.*" : "select s.*";
  return `select g.tenant is not null as is_missing,
  ${columns.join(",\n  ")},
  ${keyNames(map)
    .map((name) => `g.${name}`)
    .join(", ")}
from (
${given}
from (
${elementsQuery(map, `(\n${rowsQuery(map, `${mappedTable(map)} as r`)}\n)`, keys)}
    and exists (select from ${tables}.tenants as t where t.id = s.tenant)
) as s
) as g
full join (
${stored(map, tables)}
) as h(${elementColumns.join(", ")}) on ${same.join(" and ")}
where g.tenant is null or h.tenant is null`;
}

/** How many rows of a table are of tenants that do not exist, as \`strange\`. */
export function strangeRows(map: TableMap, places: MapPlaces): string {
  return `select count(*)::integer as strange
from ${mappedTable(map)} as r
where ${idText(map.tenant, "r")} is not null
  and not exists (
    select from ${quotedName(places.tables)}.tenants as t where t.id = ${idText(map.tenant, "r")}
  )`;
}

/** What is stored, with the columns of elements in their order. */
function stored(map: TableMap, tables: string): string {
  const type = quotedText(map.entityType);
  const sole = soleTenant(map);
  const ofTenant = sole === undefined ? "" : ` and t.id = ${quotedText(sole)}`;
  const kinds = map.tuples.map(({ relation, subjectType, subjectRelation }) =>
    [relation, subjectType, subjectRelation].map(quotedText).join(", "),
  );
  const names = map.attributes.map(({ name }) => quotedText(name));
  return [
    ...(kinds.length === 0
      ? []
      : [
          `select false, t.id, r.entity_id, r.relation, r.subject_type, r.subject_id, r.subject_relation
from ${tables}.relationships as r
join ${tables}.tenants as t on t.number = r.tenant
where r.entity_type = ${type}
  and (r.relation, r.subject_type, r.subject_relation) in (
    ${kinds.map((kind) => `(${kind})`).join(", ")}
  )${ofTenant}`,
        ]),
    ...(names.length === 0
      ? []
      : [
          `select true, t.id, a.entity_id, a.attribute, a.value_type, a.value::text, ''
from ${tables}.attributes as a
join ${tables}.tenants as t on t.number = a.tenant
where a.entity_type = ${type} and a.attribute in (${names.join(", ")})${ofTenant}`,
        ]),
  ].join("\nunion all\n");
}

/**
 * Keeps the table from being truncated until the transaction ends. It comes before the first query: a truncated table
 * is empty also for a state in which it had rows.
 */
export function keepTable(map: TableMap): string {
  return `lock table ${mappedTable(map)} in access share mode`;
}

/** Whether the role may keep the table so, as `may_keep`: the right to read some columns is not enough. */
export function mayKeepTable(map: TableMap): string {
  return `select has_table_privilege(${quotedText(mappedTable(map))}, 'select') as may_keep`;
}

/** Keeps rows of the table from being changed until the transaction ends. */
export function lockTable(map: TableMap): string {
  return `lock table ${mappedTable(map)} in share mode`;
}

/**
 * Deletes those of some elements that no row gives. Its parameters are lists of texts, in the order of
 * the columns of elements. Of an attribute only the name counts: a row that gives it gives its value.
 * Returns how many were \`removed\`.
 */
export function removeUngiven(map: TableMap, { entry }: MapPlaces): string {
  const types = elementColumns.map((name) => (name === "is_attribute" ? "boolean" : "text"));
  const lists = types.map((type, index) => `$${index + 1}::text::${type}[]`);
  const group = { entry, group: "c" };
  const given = [
    ...map.tuples.map((tuple) => givenTuple(map, tuple)),
    ...map.attributes.map(({ name, column }) =>
      givenBy(map, [
        `u.is_attribute and u.name = ${quotedText(name)}`,
        `r.${quotedName(column)} is not null`,
      ]),
    ),
  ];
  return `with asked as materialized (
  select *
  from unnest(${lists.join(", ")}) as u(${elementColumns.join(", ")})
),
changes as materialized (
  select c.is_attribute, c.tenant, ${groupColumns}
  from (
select u.* from asked as u
except
(
${given.join("\nunion all\n")}
)
  ) as c
  group by c.is_attribute, c.tenant
)
select coalesce(sum(
  case
    when c.is_attribute then ${changeCall(map, "delete", { ...group, isAttribute: true })}
    else ${changeCall(map, "delete", { ...group, isAttribute: false })}
  end
), 0)::integer as removed
from changes as c`;
}

function givenTuple(map: TableMap, tuple: MapTuple): string {
  const { relation, subjectType, subjectRelation, subjectId } = tuple;
  return givenBy(
    map,
    [
      `not u.is_attribute and u.name = ${quotedText(relation)} and u.type = ${quotedText(subjectType)}`,
      `u.relation = ${quotedText(subjectRelation)} and u.id = ${idText(subjectId, "r")}`,
    ],
    tuple,
  );
}

/** The row is found by its key, which the ids of the element have. */
function givenBy(map: TableMap, conditions: readonly string[], tuple?: MapTuple): string {
  const keys = map.key.map(({ name }) => {
    const value =
      columnValue(map.entityId, name, "u.entity_id") ??
      columnValue(map.tenant, name, "u.tenant") ??
      (tuple && columnValue(tuple.subjectId, name, "u.id"));
    return `r.${quotedName(name)} = ${must(value, "each element has the key of its row")}`;
  });
  const all = [
    ...keys,
    `u.tenant = ${idText(map.tenant, "r")}`,
    `u.entity_id = ${idText(map.entityId, "r")}`,
    ...conditions,
  ];
  return `select u.*
from asked as u
join ${mappedTable(map)} as r
  on ${all.join("\n  and ")}`;
}
