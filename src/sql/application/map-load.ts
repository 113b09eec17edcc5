import { quotedName } from "../text/quote.ts";
import {
  changeCall,
  elementsQuery,
  groupColumns,
  mappedTable,
  rowsQuery,
  type TableMap,
} from "./table-map.ts";

/** Database schemas that statements about maps name. */
export interface MapPlaces {
  /** Of the functions that applications call. */
  readonly entry: string;
  /** Of Pemba's tables. */
  readonly tables: string;
}

/**
 * Finds where a batch of rows ends, in the order of the key. Its parameters are the key, as texts, of the
 * row before the batch, if there is one. Returns the key of the last row as `k1` and so on, as texts, and
 * how many `rows` there are; no row behind the last batch.
 */
export function batchEnd(map: TableMap, batch: number, isFirst: boolean): string {
  const columns = map.key.map(({ name }) => `r.${quotedName(name)}`);
  const names = map.key.map((_, index) => `k${index + 1}`);
  const conditions = [
    ...(isFirst ? [] : [`(${columns.join(", ")}) > (${keyParameters(map, 1)})`]),
    ...columns.map((column) => `${column} is not null`),
  ];
  return `with batch as materialized (
  select ${columns.map((column, index) => `${column} as ${names[index]}`).join(", ")}
  from ${mappedTable(map)} as r
  where ${conditions.join("\n    and ")}
  order by ${columns.join(", ")}
  limit ${batch}
)
select (select count(*)::integer from batch) as rows,
  ${names.map((name) => `b.${name}::text as ${name}`).join(", ")}
from batch as b
order by ${names.map((name) => `b.${name} desc`).join(", ")}
limit 1`;
}

/**
 * Makes what the rows of a batch give. They stay as they are until the transaction ends. Its parameters
 * are the keys, as texts, of the row before the batch, if there is one, and of its last row. Returns how
 * much was `made`, and how many rows are `strange`: of a tenant that does not exist.
 */
export function loadBatch(map: TableMap, places: MapPlaces, isFirst: boolean): string {
  const columns = map.key.map(({ name }) => `r.${quotedName(name)}`).join(", ");
  const last = isFirst ? 1 : map.key.length + 1;
  const conditions = [
    ...(isFirst ? [] : [`(${columns}) > (${keyParameters(map, 1)})`]),
    `(${columns}) <= (${keyParameters(map, last)})`,
  ];
  return load(map, places, `${mappedTable(map)} as r\n  where ${conditions.join(" and ")}`);
}

/** The same for the rows with some keys: a list of texts for each column. */
export function loadKeys(map: TableMap, places: MapPlaces): string {
  const lists = map.key.map(({ type }, index) => `$${index + 1}::text::${type}[]`);
  const names = map.key.map((_, index) => `k${index + 1}`);
  const same = map.key.map(({ name }, index) => `r.${quotedName(name)} = u.${names[index]}`);
  return load(
    map,
    places,
    `unnest(${lists.join(", ")}) as u(${names.join(", ")})
  join ${mappedTable(map)} as r on ${same.join(" and ")}`,
  );
}

function load(map: TableMap, { entry, tables }: MapPlaces, from: string): string {
  const group = { entry, group: "c" };
  const known = `exists (select from ${quotedName(tables)}.tenants as t where t.id = s.tenant)`;
  return `with locked as materialized (
  select r.*
  from ${from}
  for share of r
),
given as materialized (
${rowsQuery(map, "locked as r")}
),
changes as (
  select c.is_attribute, c.tenant, ${groupColumns}
  from (
${elementsQuery(map, "given")} and ${known}
  ) as c
  group by c.is_attribute, c.tenant
)
select
  coalesce((
    select sum(
      case
        when c.is_attribute then ${changeCall(map, "create", { ...group, isAttribute: true })}
        else ${changeCall(map, "create", { ...group, isAttribute: false })}
      end
    )
    from changes as c
  ), 0)::integer as made,
  (select count(*) from given as s where s.tenant is not null and not ${known})::integer as strange`;
}

function keyParameters({ key }: TableMap, first: number): string {
  return key.map(({ type }, index) => `$${first + index}::text::${type}`).join(", ");
}
