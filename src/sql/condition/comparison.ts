import type { OrderOperator } from "../../condition/tree.ts";
import { type Fragment, sql, truth } from "../text/fragment.ts";
import {
  doubleLiteral,
  jsonNumber,
  jsonText,
  type Names,
  NoTranslation,
  repeatOne,
  repeatTwo,
  type SqlValue,
  strict,
  strictTwo,
  toBoolean,
  toDouble,
  toText,
} from "./value.ts";

const nan = doubleLiteral(Number.NaN);

const operators = {
  "<": sql`<`,
  "<=": sql`<=`,
  ">": sql`>`,
  ">=": sql`>=`,
} as const satisfies Record<OrderOperator, Fragment>;

/** `left operator right`; NULL where the two have no order. */
export function order(
  names: Names,
  operator: OrderOperator,
  [left, right]: readonly [SqlValue, SqlValue],
): Fragment {
  if (left.kind === "json" && right.kind === "json") return jsonOrder(names, operator, left, right);
  const kind = left.kind === "json" ? right.kind : left.kind;
  switch (kind) {
    case "string": {
      const [first, second] = [toText(names, left), toText(names, right)];
      if (first === undefined || second === undefined) break;
      return sql`((${first.sql}) collate "C" ${operators[operator]} ${second.sql})`;
    }
    case "bool":
      if (!isBooleanLike(left) || !isBooleanLike(right)) break;
      return sql`(${toBoolean(left)} ${operators[operator]} ${toBoolean(right)})`;
    case "int":
    case "double":
      return numberOrder(names, operator, left, right);
    case "timestamp":
    case "duration":
      if (left.kind !== right.kind) break;
      return sql`(${left.sql} ${operators[operator]} ${right.sql})`;
    case "null":
    case "list":
    case "json":
      break;
  }
  throw new NoTranslation(`\`${operator}\` of ${left.kind} and ${right.kind}`);
}

/** `left == right`: false for values of two types, NULL only where one of them is. */
export function equality(names: Names, [left, right]: readonly [SqlValue, SqlValue]): Fragment {
  if (left.kind === "list" || right.kind === "list") throw new NoTranslation("`==` of lists");
  if (left.kind === "json") return jsonEquality(names, left, right);
  if (right.kind === "json") return jsonEquality(names, right, left);
  if (left.kind === "string" && right.kind === "string") {
    return sql`((${left.sql}) collate "C" = ${right.sql})`;
  }
  if (left.kind === "double" && right.kind === "double") return doubleEquality(names, left, right);
  if (left.kind === right.kind && left.kind !== "null") return sql`(${left.sql} = ${right.sql})`;
  if (isNumber(left) && isNumber(right)) throw new NoTranslation("`==` of int and double");
  const same = left.kind === right.kind;
  return strictTwo(names, [left, right], () => truth(same));
}

function isBooleanLike(value: SqlValue): boolean {
  return value.kind === "bool" || value.kind === "json";
}

function isNumber(value: SqlValue): boolean {
  return value.kind === "int" || value.kind === "double";
}

function jsonOrder(
  names: Names,
  operator: OrderOperator,
  left: SqlValue,
  right: SqlValue,
): Fragment {
  const sign = operators[operator];
  return repeatTwo(
    names,
    [left, right],
    (a, b) => sql`case
    when jsonb_typeof(${a}) <> jsonb_typeof(${b}) then null
    when jsonb_typeof(${a}) = 'number' then (${jsonNumber(a)}) ${sign} (${jsonNumber(b)})
    when jsonb_typeof(${a}) = 'string' then (${jsonText(a)}) ${sign} (${jsonText(b)})
    when jsonb_typeof(${a}) = 'boolean' then (${a} = 'true'::jsonb) ${sign} (${b} = 'true'::jsonb)
  end`,
  );
}

function numberOrder(
  names: Names,
  operator: OrderOperator,
  left: SqlValue,
  right: SqlValue,
): Fragment {
  const sign = operators[operator];
  if (left.kind === "int" && right.kind === "int") return sql`(${left.sql} ${sign} ${right.sql})`;
  if (left.kind === "int" && right.kind === "json") {
    return mixedOrder(names, mirrored[operator], right, left);
  }
  if (left.kind === "json" && right.kind === "int") return mixedOrder(names, operator, left, right);
  const [first, second] = [toDouble(names, left), toDouble(names, right)];
  if (first === undefined || second === undefined) {
    throw new NoTranslation(`\`${operator}\` of ${left.kind} and ${right.kind}`);
  }
  // Postgres puts NaN above everything: only the greater side can make a comparison wrongly true.
  const greater = operator === "<" || operator === "<=" ? second : first;
  if (greater.kind !== "double" || !greater.nan) return sql`(${first.sql} ${sign} ${second.sql})`;
  return strict(names, [first, second], ([a = first, b = second]) => {
    const upper = greater === second ? b : a;
    return sql`(${a.sql} ${sign} ${b.sql} and ${upper.sql} <> ${nan})`;
  });
}

const mirrored = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** A number of JSON against an int, which stands for the double that is nearest to it. */
function mixedOrder(
  names: Names,
  operator: OrderOperator,
  json: SqlValue,
  int: SqlValue,
): Fragment {
  const number = repeatOne(names, json, jsonNumber);
  return sql`(${number} ${operators[operator]} (${int.sql})::double precision)`;
}

function doubleEquality(names: Names, left: SqlValue, right: SqlValue): Fragment {
  const mayBeNan = left.kind === "double" && left.nan && right.kind === "double" && right.nan;
  if (!mayBeNan) return sql`(${left.sql} = ${right.sql})`;
  return strictTwo(names, [left, right], (a, b) => sql`(${a} = ${b} and ${a} <> ${nan})`);
}

function jsonEquality(names: Names, json: SqlValue, other: SqlValue): Fragment {
  switch (other.kind) {
    case "json":
      return sql`(${json.sql} = ${other.sql})`;
    case "null":
      return sql`(${json.sql} = 'null'::jsonb)`;
    case "bool":
    case "string":
      return sql`(${json.sql} = to_jsonb(${other.sql}))`;
    case "double":
      return strictTwo(names, [json, other], (j, d) => numberOrFalse(j, (n) => sql`${n} = ${d}`));
    case "int":
      return strictTwo(names, [json, other], (j, i) =>
        numberOrFalse(j, (n) => sql`${n} = (${i})::double precision`),
      );
    case "timestamp":
    case "duration":
      return strictTwo(names, [json, other], () => sql`false`);
    case "list":
      throw new NoTranslation("`==` of lists");
  }
}

/** Not by `jsonb =`: a JSON number is the shortest text of its double, not the double's value. */
function numberOrFalse(json: Fragment, build: (number: Fragment) => Fragment): Fragment {
  return sql`
    case
      when jsonb_typeof(${json}) = 'number' then ${build(sql`(${json})::double precision`)}
      else false
    end
  `;
}
