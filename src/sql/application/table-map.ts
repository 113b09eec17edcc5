import { quotedName, quotedText } from "../text/quote.ts";
import {
  columnsOf,
  type TemplateColumn,
  type IdTemplate,
  idText,
  mayBeUnfit,
} from "./id-template.ts";

/** A tuple that each row of a mapped table gives, unless one of its columns is null. */
export interface MapTuple {
  readonly relation: string;
  readonly subjectType: string;
  readonly subjectId: IdTemplate;
  /** "" for the subject itself. */
  readonly subjectRelation: string;
}

/** An attribute that each row of a mapped table gives, unless the column is null. */
export interface MapAttribute {
  readonly name: string;
  /** As schemas name types, such as `string[]`. */
  readonly valueType: string;
  readonly column: string;
}

/** What happens if the table is truncated. */
export const truncateForms = ["refuse", "delete"] as const;

export type TruncateForm = (typeof truncateForms)[number];

/** Which columns of a table are which tuples and attributes. */
export interface TableMap {
  readonly name: string;
  readonly table: { readonly schema: string; readonly name: string };
  /** The columns of a unique index that are in each tuple and attribute. */
  readonly key: readonly TemplateColumn[];
  readonly tenant: IdTemplate;
  readonly entityType: string;
  readonly entityId: IdTemplate;
  readonly tuples: readonly MapTuple[];
  readonly attributes: readonly MapAttribute[];
  readonly truncate: TruncateForm;
}

/** The table with its schema, as SQL spells it. */
export function mappedTable({ table }: Pick<TableMap, "table">): string {
  return `${quotedName(table.schema)}.${quotedName(table.name)}`;
}

/** The tenant, if it is the same for all rows. */
export function soleTenant({ tenant }: Pick<TableMap, "tenant">): string | undefined {
  if (columnsOf(tenant).length > 0) return undefined;
  return tenant.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** What the table `derived` has of a map, as JSON. */
export function derivedJson({ entityType, tuples, attributes }: TableMap): string {
  const kinds = new Map(
    tuples.map(({ relation, subjectType, subjectRelation }) => {
      const userset = subjectRelation === "" ? "" : `#${subjectRelation}`;
      const label = `${entityType}#${relation}@${subjectType}${userset}`;
      const names = { relation, subject_type: subjectType, subject_relation: subjectRelation };
      return [label, { label, entity_type: entityType, ...names, attribute: "" }];
    }),
  );
  const none = { relation: "", subject_type: "", subject_relation: "" };
  const others = attributes.map(({ name }) => ({
    label: `${entityType}$${name}`,
    entity_type: entityType,
    ...none,
    attribute: name,
  }));
  return JSON.stringify([...kinds.values(), ...others]);
}

/**
 * A query of rows: the columns of the key as `k1` and so on, `tenant`, `entity_id`, the ids of subjects as
 * `s1` and so on, and the values of attributes as JSON text in `v1` and so on.
 *
 * @param from what stands behind `from`, with the alias `r` for the rows
 */
export function rowsQuery(map: TableMap, from: string): string {
  const columns = [
    ...map.key.map(({ name }, index) => `r.${quotedName(name)} as k${index + 1}`),
    `${idText(map.tenant, "r")} as tenant`,
    `${idText(map.entityId, "r")} as entity_id`,
    ...map.tuples.map(({ subjectId }, index) => `${idText(subjectId, "r")} as s${index + 1}`),
    ...map.attributes.map((attribute, index) => `${valueText(attribute)} as v${index + 1}`),
  ];
  return `select ${columns.join(",\n  ")}\nfrom ${from}`;
}

/** The columns of the key in such a query. */
export function keyNames({ key }: Pick<TableMap, "key">): readonly string[] {
  return key.map((_, index) => `k${index + 1}`);
}

/** The columns of the elements of rows, in their order. */
export const elementColumns = [
  "is_attribute",
  "tenant",
  "entity_id",
  "name",
  "type",
  "id",
  "relation",
] as const;

/**
 * A query of tuples and attributes that rows give, with the columns of elements. Of a tuple `name` is the
 * relation, and `type`, `id`, `relation` are the subject; of an attribute `type` is that of the value,
 * `id` the value as JSON text, and `relation` is empty.
 *
 * @param rows what stands behind `from` for a query as `rowsQuery` makes it
 * @param others more columns, of the row `s`
 */
export function elementsQuery(map: TableMap, rows: string, others: readonly string[] = []): string {
  const elements = [
    ...map.tuples.map(({ relation, subjectType, subjectRelation }, index) => {
      const names = [relation, subjectType].map(quotedText).join(", ");
      return `(false, ${names}, s.s${index + 1}, ${quotedText(subjectRelation)})`;
    }),
    ...map.attributes.map(
      ({ name, valueType }, index) =>
        `(true, ${[name, valueType].map(quotedText).join(", ")}, s.v${index + 1}, '')`,
    ),
  ];
  const columns = ["e.is_attribute", "s.tenant", "s.entity_id", "e.name", "e.type", "e.id"];
  return `select ${[...columns, "e.relation", ...others].join(", ")}
from ${rows} as s
cross join lateral (values
  ${elements.join(",\n  ")}
) as e(is_attribute, name, type, id, relation)
where e.id is not null and s.entity_id is not null and s.tenant is not null`;
}

/**
 * Calls a function for the elements of a group, whose columns are lists.
 *
 * @param entry the database schema of the functions that applications call
 * @param group the alias of the group
 * @param prefix what the names of its lists begin with
 */
export function changeCall(
  map: TableMap,
  action: "create" | "delete",
  {
    entry,
    group,
    isAttribute,
    prefix = "",
  }: {
    readonly entry: string;
    readonly group: string;
    readonly isAttribute: boolean;
    readonly prefix?: string;
  },
): string {
  const before = `${quotedText(map.name)}, ${group}.tenant, ${quotedText(map.entityType)}`;
  const list = (name: string): string => `${group}.${prefix}${name}`;
  const key = `${list("entity_ids")}, ${list("names")}`;
  const schema = quotedName(entry);
  if (isAttribute) {
    return action === "delete"
      ? `${schema}.delete_derived_attributes(${before}, ${key})`
      : `${schema}.set_derived_attributes(${before}, ${key}, ${list("types")}, ${list("ids")}, ${unfit(map)})`;
  }
  const subjects = ["types", "ids", "relations"].map(list).join(", ");
  return action === "delete"
    ? `${schema}.delete_derived_tuples(${before}, ${key}, ${subjects})`
    : `${schema}.create_derived_tuples(${before}, ${key}, ${subjects}, ${unfit(map)})`;
}

/** The columns of a group of elements, beside those that it is grouped by. */
export const groupColumns = [
  "array_agg(c.entity_id) as entity_ids",
  "array_agg(c.name) as names",
  "array_agg(c.type) as types",
  "array_agg(c.id) as ids",
  "array_agg(c.relation) as relations",
].join(", ");

function unfit({ entityType, entityId, tuples }: TableMap): string {
  const mayBe =
    mayBeUnfit(entityId) ||
    tuples.some(
      ({ subjectId, subjectType, subjectRelation, relation }) =>
        mayBeUnfit(subjectId) || (subjectType === entityType && subjectRelation === relation),
    );
  return String(mayBe);
}

function valueText({ valueType, column }: MapAttribute): string {
  const value = `r.${quotedName(column)}`;
  if (valueType.endsWith("[]")) return `to_jsonb(array_remove(${value}, null))::text`;
  return valueType === "string" ? `to_jsonb(${value}::text)::text` : `to_jsonb(${value})::text`;
}
