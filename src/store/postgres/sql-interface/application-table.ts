import { assert } from "../../../base/assert.ts";
import { quotedName } from "../../../sql/text/quote.ts";
import { booleanOf, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { arrayLiteral, type ParameterValue } from "../connect/value.ts";

const tableStatement = statementFile("interface/application-table.sql");

/** A table of the application. */
export interface ApplicationTable {
  readonly schema: string;
  readonly name: string;
  /** As `pg_class.relkind` has it. */
  readonly kind: string;
  /** It has partitions, or tables that inherit from it. */
  readonly hasParts: boolean;
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** Columns with which an index of all rows begins. */
  readonly lookups: readonly {
    readonly column: string;
    /** The index has no other column and is unique. */
    readonly isUnique: boolean;
  }[];
}

export interface TableColumn {
  /** The SQL type, that below a domain. With its schema if it is none of Postgres's own. */
  readonly type: string;
  readonly isNullable: boolean;
  /** The type is an enumeration or one of Postgres's own. */
  readonly isBuiltin: boolean;
  /** Values of the type have collations. */
  readonly isCollatable: boolean;
  /** Texts of the column are equal only if they are the same. */
  readonly isExact: boolean;
}

/**
 * The names that a table of an application may have, as SQL spells them, the first that exists being meant. Without
 * its schema, which stands before it in `parts`, it is in one of `schemas`.
 */
export function tableNames(parts: readonly string[], schemas: readonly string[]): ParameterValue {
  const names = parts.length > 1 ? [parts] : schemas.map((schema) => [schema, ...parts]);
  return arrayLiteral(names.map((name) => name.map(quotedName).join(".")));
}

/** Reads the first of `tableNames` that exists. Undefined if there is none. */
export async function readTable(
  run: (statement: string, values: readonly ParameterValue[]) => Promise<readonly Row[]>,
  names: ParameterValue,
): Promise<ApplicationTable | undefined> {
  const [row] = await run(tableStatement, [names]);
  if (row === undefined) return undefined;
  return {
    schema: textOf(row, "schema"),
    name: textOf(row, "name"),
    kind: textOf(row, "kind"),
    hasParts: booleanOf(row, "has_parts"),
    columns: new Map(
      listIn(row, "columns").map((each) => [
        textOf(each, "name"),
        {
          type: textOf(each, "type"),
          isNullable: booleanOf(each, "is_nullable"),
          isBuiltin: booleanOf(each, "is_builtin"),
          isCollatable: booleanOf(each, "is_collatable"),
          isExact: booleanOf(each, "is_exact"),
        },
      ]),
    ),
    lookups: listIn(row, "lookups").map((each) => ({
      column: textOf(each, "column"),
      isUnique: booleanOf(each, "is_unique"),
    })),
  };
}

function listIn(row: Row, key: string): readonly Row[] {
  const list: unknown = row[key];
  assert(Array.isArray(list), "the column is a list");
  return list;
}
