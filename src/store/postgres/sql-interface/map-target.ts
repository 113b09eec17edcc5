import { assert } from "../../../base/assert.ts";
import type { Database } from "../connect/database.ts";
import { booleanOf, numberOf, optionalTextOf, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { tableNames } from "./application-table.ts";
import { filled, type InterfaceNames } from "./interface-names.ts";

const tableStatement = statementFile("interface/map-table.sql");
const headNamesFile = statementFile("interface/head-names.sql");

/** A table of the application that may get a map. */
export interface MapTable {
  readonly schema: string;
  readonly name: string;
  /** As `pg_class.relkind` has it. */
  readonly kind: string;
  /** The table of which it is a partition or a child. */
  readonly parent: string | undefined;
  /** A table that inherits from it. */
  readonly child: string | undefined;
  /** Their types, below domains. */
  readonly columns: ReadonlyMap<string, { readonly type: string; readonly isVirtual: boolean }>;
  /** The columns of each unique index that always holds for all rows, the primary key first. */
  readonly keys: readonly (readonly string[])[];
}

/**
 * Reads the table whose name has these parts; without its schema, it is in the first one of the path that has
 * such a table. Undefined without one.
 */
export async function readMapTable(
  database: Database,
  parts: readonly string[],
): Promise<MapTable | undefined> {
  const [row] = await database.query(tableStatement, [tableNames(parts, database.schemas)]);
  if (row === undefined) return undefined;
  return {
    schema: textOf(row, "schema"),
    name: textOf(row, "name"),
    kind: textOf(row, "kind"),
    parent: optionalTextOf(row, "parent"),
    child: optionalTextOf(row, "child"),
    columns: new Map(
      listIn(row, "columns").map((column) => {
        assert(isRow(column), "a column is an object");
        const isVirtual = booleanOf(column, "is_virtual");
        return [textOf(column, "name"), { type: textOf(column, "type"), isVirtual }];
      }),
    ),
    keys: listIn(row, "keys").map((key) => {
      assert(Array.isArray(key), "a key is a list");
      return key.map(String);
    }),
  };
}

/** What can be written under one head or more. */
export interface HeadNames {
  /** How many heads are known. */
  readonly heads: number;
  readonly types: ReadonlyMap<string, HeadType>;
}

export interface HeadType {
  /** How many heads have it. */
  readonly tenants: number;
  /** The subjects of each relation, such as `group#member`, with how many heads allow them. */
  readonly relations: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The types of the values of each attribute, with how many heads have them. */
  readonly attributes: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Reads what the head of a tenant allows, or those of all tenants. */
export async function readHeadNames(
  database: Database,
  names: InterfaceNames,
  tenant: string | undefined,
): Promise<HeadNames> {
  const rows = await database.query(filled(headNamesFile, { ...names }), [tenant ?? ""]);
  const types = new Map<
    string,
    { tenants: number; relations: CountedKinds; attributes: CountedKinds }
  >();
  for (const row of rows) {
    const entityType = textOf(row, "entity_type");
    const type = types.get(entityType) ?? {
      tenants: 0,
      relations: new Map(),
      attributes: new Map(),
    };
    types.set(entityType, type);
    const tenants = numberOf(row, "tenants");
    const name = textOf(row, "name");
    const subjectType = textOf(row, "subject_type");
    const relation = textOf(row, "subject_relation");
    if (name === "") type.tenants = tenants;
    else if (subjectType === "") note(type.attributes, name, textOf(row, "value_type"), tenants);
    else note(type.relations, name, `${subjectType}${relation && `#${relation}`}`, tenants);
  }
  return { heads: rows[0] === undefined ? 0 : numberOf(rows[0], "heads"), types };
}

type CountedKinds = Map<string, Map<string, number>>;

function note(kinds: CountedKinds, name: string, kind: string, tenants: number): void {
  const known = kinds.get(name) ?? new Map<string, number>();
  kinds.set(name, known.set(kind, tenants));
}

function listIn(row: Row, key: string): readonly unknown[] {
  const list: unknown = row[key];
  assert(Array.isArray(list), "the column is a list");
  return list;
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null;
}
