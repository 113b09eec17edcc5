import { quotedName } from "../text/quote.ts";

/** A column of the order of a list. */
export interface OrderColumn {
  readonly name: string;
  /** The SQL type of its values. */
  readonly type: string;
  /** Values of the type have collations. */
  readonly isCollatable: boolean;
  readonly isNullable: boolean;
  readonly isDescending: boolean;
  readonly hasNullsFirst: boolean;
}

/** A column with the parameter that has its value in the row before. */
interface PlacedColumn extends OrderColumn {
  readonly column: string;
  readonly before: string;
}

/** Columns that one comparison of rows covers: all may be compared in one direction and have no nulls. */
type ColumnGroup = readonly [PlacedColumn, ...PlacedColumn[]];

/** The most branches of a page; each is a scan of the index. */
const branchesMax = 32;

/** As `order by` takes it. `alias` names the table. */
export function orderBy(columns: readonly OrderColumn[], alias: string): string {
  return columns.map((each) => `${alias}.${quotedName(each.name)}${directionOf(each)}`).join(", ");
}

/** The direction of a column behind its name; empty for ascending with nulls last. */
export function directionOf({ isDescending, hasNullsFirst }: OrderColumn): string {
  const nulls =
    hasNullsFirst === isDescending ? "" : hasNullsFirst ? " nulls first" : " nulls last";
  return `${isDescending ? " desc" : ""}${nulls}`;
}

/**
 * Conditions whose rows, one condition after the other, are those behind the row before, in order. Each
 * of them is one range of an index in that order. The last column is the key, which has no nulls: if
 * its value in the row before is null, there is no row before. Undefined if there are too many.
 *
 * @param before the text of the value that the row before has in the column with an index
 */
export function rangesAfter(
  columns: readonly OrderColumn[],
  before: (index: number) => string,
  alias: string,
): readonly string[] | undefined {
  const groups = groupsOf(
    columns.map((each, index) => ({
      ...each,
      column: `${alias}.${quotedName(each.name)}`,
      before: before(index),
    })),
  );
  const key = before(columns.length - 1);
  // From the innermost: rows that differ in the last columns alone come first.
  const ranges = groups.toReversed().flatMap((group, index) => {
    const outer = groups.slice(0, groups.length - 1 - index);
    return equalTo(outer).flatMap((equal) =>
      behind(group, key).map((beyond) => [...equal, ...beyond].join(" and ")),
    );
  });
  ranges.push(`${key} is null`);
  return ranges.length > branchesMax ? undefined : ranges;
}

function groupsOf(columns: readonly PlacedColumn[]): readonly ColumnGroup[] {
  const groups: [PlacedColumn, ...PlacedColumn[]][] = [];
  for (const column of columns) {
    const last = groups.at(-1);
    const isAlike =
      last !== undefined &&
      !column.isNullable &&
      !last[0].isNullable &&
      column.isDescending === last[0].isDescending;
    if (isAlike) last.push(column);
    else groups.push([column]);
  }
  return groups;
}

/** The ways in which columns may have the values of the row before: each column may be null there. */
function equalTo(groups: readonly ColumnGroup[]): readonly (readonly string[])[] {
  let ways: readonly (readonly string[])[] = [[]];
  for (const { column, before, isNullable } of groups.flat()) {
    const same = ways.map((way) => [...way, `${column} = ${before}`]);
    const none = isNullable
      ? ways.map((way) => [...way, `${before} is null`, `${column} is null`])
      : [];
    ways = [...same, ...none];
  }
  return ways;
}

/** The ways in which a group may be behind the row before, in order. */
function behind(group: ColumnGroup, key: string): readonly (readonly string[])[] {
  const [first, ...others] = group;
  const sign = first.isDescending ? "<" : ">";
  if (others.length > 0) {
    const columns = group.map(({ column }) => column).join(", ");
    const values = group.map(({ before }) => before).join(", ");
    return [[`(${columns}) ${sign} (${values})`]];
  }
  const { column, before } = first;
  const beyond = [`${column} ${sign} ${before}`];
  if (!first.isNullable) return [beyond];
  return first.hasNullsFirst
    ? [beyond, [`${before} is null`, `${key} is not null`, `${column} is not null`]]
    : [beyond, [`${before} is not null`, `${column} is null`]];
}
