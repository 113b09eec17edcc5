import { type Fragment, identifier, join, literal, sql } from "../text/fragment.ts";

export type ElementKind = "bool" | "int" | "double" | "string";

/**
 * A part of a rule as an SQL expression. A fault of the rule is NULL in SQL; JSON's null is not
 * NULL. Kinds are those of values, not of CEL's types: `json` is a value of `context.data`.
 */
export type SqlValue = SqlKind & {
  readonly sql: Fragment;
  /** A column, a literal or a path, which an expression may repeat. */
  readonly simple: boolean;
  /** Never NULL. */
  readonly total: boolean;
};

type SqlKind =
  | { readonly kind: "bool" | "int" | "string" | "json" | "null" }
  /** Nanoseconds as a numeric: Postgres has no times of that many digits. */
  | { readonly kind: "timestamp" | "duration" }
  /** `nan`: may be not a number, which Postgres compares otherwise than CEL does. */
  | { readonly kind: "double"; readonly nan: boolean }
  | { readonly kind: "list"; readonly element: ElementKind };

/** Why a rule has no SQL; thrown inside the translator and answered by it. */
export class NoTranslation extends Error {
  override readonly name = "NoTranslation";
}

/** Names for subqueries, each used once in a translated rule, so that none hides another. */
export interface Names {
  next(): Fragment;
}

export function makeNames(): Names {
  let count = 0;
  return {
    next: () => {
      count += 1;
      return identifier(`operand${count}`);
    },
  };
}

export function boolean(expression: Fragment, total = false): SqlValue {
  return { kind: "bool", sql: expression, simple: false, total };
}

/**
 * An expression in which each value may be repeated. A value that is not simple is computed once, in
 * a subquery that the planner cannot merge (`offset 0`). If it were merged, the expression would grow
 * with every level, and a guard could be separated from the partial operation that it guards.
 */
function repeat(
  names: Names,
  values: readonly SqlValue[],
  build: (values: readonly SqlValue[]) => Fragment,
): Fragment {
  if (values.every((value) => value.simple)) return build(values);
  const table = names.next();
  const columns: Fragment[] = [];
  const references = values.map((value, index) => {
    if (value.simple) return value;
    const column = identifier(`c${index}`);
    columns.push(sql`${value.sql} as ${column}`);
    return { ...value, sql: sql`${table}.${column}`, simple: true };
  });
  return sql`(select ${build(references)} from (select ${join(columns, ", ")} offset 0) ${table})`;
}

/** Like `repeat`, for an expression that is NULL as soon as one of the values is. */
export function strict(
  names: Names,
  values: readonly SqlValue[],
  build: (values: readonly SqlValue[]) => Fragment,
): Fragment {
  if (values.every((value) => value.total)) return repeat(names, values, build);
  return repeat(names, values, (references) => {
    const present = references
      .filter((value) => !value.total)
      .map((value) => sql`${value.sql} is not null`);
    const inside = build(references.map((value) => ({ ...value, total: true })));
    return sql`case when ${join(present, " and ")} then ${inside} end`;
  });
}

export function repeatOne(
  names: Names,
  value: SqlValue,
  build: (value: Fragment) => Fragment,
): Fragment {
  return repeat(names, [value], ([only]) => build((only ?? value).sql));
}

export function repeatTwo(
  names: Names,
  [left, right]: readonly [SqlValue, SqlValue],
  build: (left: Fragment, right: Fragment) => Fragment,
): Fragment {
  return repeat(names, [left, right], ([first, second]) =>
    build((first ?? left).sql, (second ?? right).sql),
  );
}

export function strictOne(
  names: Names,
  value: SqlValue,
  build: (value: Fragment) => Fragment,
): Fragment {
  return strict(names, [value], ([only]) => build((only ?? value).sql));
}

export function strictTwo(
  names: Names,
  [left, right]: readonly [SqlValue, SqlValue],
  build: (left: Fragment, right: Fragment) => Fragment,
): Fragment {
  return strict(names, [left, right], ([first, second]) =>
    build((first ?? left).sql, (second ?? right).sql),
  );
}

/** Any value as a boolean: NULL when it is not one. */
export function toBoolean(value: SqlValue): Fragment {
  if (value.kind === "bool") return value.sql;
  if (value.kind !== "json") throw new NoTranslation(`${value.kind} where a boolean is needed`);
  return sql`case ${value.sql} when 'true'::jsonb then true when 'false'::jsonb then false end`;
}

/** The number in a simple JSON value: NULL when it holds none. JSON has no NaN. */
export function jsonNumber(json: Fragment): Fragment {
  return sql`case when jsonb_typeof(${json}) = 'number' then (${json})::double precision end`;
}

/** The text in a simple JSON value: NULL when it holds none. */
export function jsonText(json: Fragment): Fragment {
  return sql`case when jsonb_typeof(${json}) = 'string' then (${json} #>> '{}') collate "C" end`;
}

/** A value as a number of that kind; json is read as a double. NULL for json that holds none. */
export function toDouble(names: Names, value: SqlValue): SqlValue | undefined {
  if (value.kind === "double") return value;
  if (value.kind !== "json") return undefined;
  const number = repeatOne(names, value, jsonNumber);
  return { kind: "double", nan: false, sql: number, simple: false, total: false };
}

export function toText(names: Names, value: SqlValue): SqlValue | undefined {
  if (value.kind === "string") return value;
  if (value.kind !== "json") return undefined;
  const text = repeatOne(names, value, jsonText);
  return { kind: "string", sql: text, simple: false, total: false };
}

/** A literal double, to the last bit. */
export function doubleLiteral(value: number): Fragment {
  return sql`${literal(String(value))}::double precision`;
}

/** An integer as a numeric, which is never too small for it. */
export function numericLiteral(value: bigint): Fragment {
  return sql`${literal(String(value))}::numeric`;
}

/**
 * A numeric without decimals, NULL when it is beyond either end. A `case` would repeat the expression.
 * Instead, a number beyond an end is moved to the first number beyond, which becomes NULL.
 */
export function within(expression: Fragment, least: bigint, greatest: bigint): Fragment {
  const [below, above] = [numericLiteral(least - 1n), numericLiteral(greatest + 1n)];
  return sql`
    nullif(nullif(greatest(least(${expression}, ${above}), ${below}), ${above}), ${below})
  `;
}
