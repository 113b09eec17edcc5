import { must } from "../../base/assert.ts";
import { quotedName } from "../text/quote.ts";
import type { OrderColumn } from "./list-order.ts";
import { conditionWith, type NamedCondition } from "./named-parameters.ts";

/** A list that is printed as a function. */
export interface List {
  /** The database schema of the functions that applications call; the list is one of them. */
  readonly entry: string;
  readonly name: string;
  readonly table: { readonly schema: string; readonly name: string };
  /** The key is its last column. */
  readonly order: readonly OrderColumn[];
  readonly question: {
    readonly entityType: string;
    readonly permission: string;
    readonly subjectType: string;
  };
  /** A further condition; undefined for none. */
  readonly where: Pick<NamedCondition, "parts"> | undefined;
  /** The parameters of the condition, which come behind all others. */
  readonly whereParameters: readonly ListParameter[];
  /** An index finds the rows that meet the condition, in order. */
  readonly isWhereIndexed: boolean;
  /** Settings of the planner for the statements of the function. */
  readonly settings: Readonly<Record<string, string>>;
  readonly bounds: ListBounds;
}

/** A parameter of the function of a list. */
export interface ListParameter {
  readonly name: string;
  /** Its SQL type. */
  readonly type: string;
  /** Values of the type have collations. */
  readonly isCollatable: boolean;
}

/** How the text of a query refers to the parameter with a number. */
export type ParameterText = (number: number) => string;

/** As a prepared statement does. */
export const byNumber: ParameterText = (number) => `$${number}`;

/** Names that the queries of a list have beside the table's. */
export const ownNames: readonly string[] = ["pemba_list", "pemba_row", "pemba_candidate"];

/** A list before it is known how the database finds its rows. */
export type UnplannedList = Omit<List, "isWhereIndexed">;

/** How far each way to a page goes before another one is tried. */
export interface ListBounds {
  /** If the subject reaches more rows, some rows of the table are checked first. */
  readonly reached: number;
  /** If there are no more candidates, the row of each one is looked for, however small the table is. */
  readonly each: number;
  /** The candidates that are read in each round, if there are no more. In a last round all are read. */
  readonly candidates: readonly number[];
  /** What may be read of the table in a round, the check of rows first; a row that is judged counts 20. */
  readonly scanned: readonly number[];
}

/**
 * Found by measurement, in a table of a million rows. To look for the row of a candidate takes a third
 * of the time of judging a row of the table, and to read a row that does not fit a tenth. So both ways
 * of a round take about as long, and each round as long as all before it.
 */
export const usualBounds: ListBounds = {
  reached: 300,
  each: 2_500,
  candidates: [2_500, 20_000, 160_000],
  scanned: [30_000, 6_000, 20_000, 200_000],
};

/** The longest name in Postgres, in bytes. */
const nameBytesMax = 63;

/** The parameters of the function, in their order. */
export function parametersOf({
  order,
  whereParameters,
}: Pick<List, "order" | "whereParameters">): readonly ListParameter[] {
  const before = order.map(({ name, type, isCollatable }, index) => {
    const readable = `after_${name}`;
    const isShort = Buffer.byteLength(readable) <= nameBytesMax;
    return { name: isShort ? readable : `after_${index + 1}`, type, isCollatable };
  });
  return [
    { name: "tenant", type: "text", isCollatable: true },
    { name: "subject", type: "text", isCollatable: true },
    ...before,
    { name: "wanted", type: "integer", isCollatable: false },
    ...whereParameters,
  ];
}

/** The number of the parameter with the first value of the row before. */
export const firstPlace = 3;

/** The text of the further condition in brackets; undefined if there is none. */
export function conditionOf(
  { where, order }: Pick<List, "where" | "order">,
  parameter: ParameterText,
): string | undefined {
  if (where === undefined) return undefined;
  const first = firstPlace + order.length + 1;
  return `(\n${conditionWith(where, (place) => parameter(first + place))}\n)`;
}

/** The table with its schema. */
export function tableName({ table }: Pick<List, "table">): string {
  return `${quotedName(table.schema)}.${quotedName(table.name)}`;
}

/** The column of the key, under the name of the table. */
export function keyColumn({ table, order }: Pick<List, "table" | "order">): string {
  const { name } = must(order.at(-1), "an order ends with the key");
  return `${quotedName(table.name)}.${quotedName(name)}`;
}
