import type { ArithmeticOperator } from "../../condition/tree.ts";
import { type Fragment, integer, sql } from "../text/fragment.ts";
import { addDoubles, divideDoubles, multiplyDoubles } from "./double.ts";
import { calculateTime } from "./time.ts";
import {
  type Names,
  NoTranslation,
  repeatTwo,
  strict,
  type SqlValue,
  toDouble,
  toText,
  within,
} from "./value.ts";

/**
 * The longest text that `+` makes in SQL. So much, as often as a rule can have a `+`, is within the steps of the
 * interpreter, which then has an answer, too.
 */
const textBytesMax = 60_000;

/** `left operator right`: NULL where CEL faults, for all values, and for a text that would be too long. */
export function arithmetic(
  names: Names,
  operator: ArithmeticOperator,
  [left, right]: readonly [SqlValue, SqlValue],
): SqlValue {
  if (left.kind === "int" && right.kind === "int")
    return int(intResult(names, operator, left, right));
  const time = calculateTime(operator, left, right);
  if (time !== undefined) return time;
  const kinds = [left.kind, right.kind];
  // Numbers of JSON are doubles, and a double and an int are never added up.
  if (kinds.includes("json") && kinds.includes("int")) return int(sql`null::bigint`);
  if (kinds.every((kind) => kind === "json")) {
    if (operator === "+") throw new NoTranslation("`+` of two values of unknown types");
  } else if (kinds.includes("string") && operator === "+") {
    const [first, second] = [toText(names, left), toText(names, right)];
    if (first !== undefined && second !== undefined) return concatenation(names, first, second);
  }
  const [first, second] = [toDouble(names, left), toDouble(names, right)];
  if (first === undefined || second === undefined) {
    throw new NoTranslation(`\`${operator}\` of ${left.kind} and ${right.kind}`);
  }
  return double(
    operator === "%" ? sql`null::double precision` : doubleResult(names, operator, first, second),
  );
}

/** `-operand`. */
export function negation(names: Names, operand: SqlValue): SqlValue {
  if (operand.kind === "int") return int(checked(sql`-(${operand.sql})::numeric`));
  const number = toDouble(names, operand);
  if (number === undefined) throw new NoTranslation(`\`-\` of ${operand.kind}`);
  return { ...number, sql: sql`(-${number.sql})`, simple: false };
}

function int(expression: Fragment): SqlValue {
  return { kind: "int", sql: expression, simple: false, total: false };
}

function double(expression: Fragment): SqlValue {
  return { kind: "double", nan: true, sql: expression, simple: false, total: false };
}

/**
 * NULL beyond the limit: a long text may stand in a rule a thousand times, and Postgres keeps each text that is put
 * together on the way until the rule is done.
 */
function concatenation(names: Names, left: SqlValue, right: SqlValue): SqlValue {
  const expression = repeatTwo(
    names,
    [left, right],
    (a, b) => sql`
      case when octet_length(${a}) + octet_length(${b}) <= ${integer(textBytesMax)} then ${a} || ${b} end
    `,
  );
  return { kind: "string", sql: expression, simple: false, total: false };
}

function intResult(
  names: Names,
  operator: ArithmeticOperator,
  left: SqlValue,
  right: SqlValue,
): Fragment {
  const [first, second] = [sql`(${left.sql})::numeric`, sql`(${right.sql})::numeric`];
  switch (operator) {
    case "+":
      return checked(sql`${first} + ${second}`);
    case "-":
      return checked(sql`${first} - ${second}`);
    case "*":
      return checked(sql`${first} * ${second}`);
    case "/":
      return checked(sql`div(${first}, nullif(${second}, 0))`);
    case "%":
      return repeatTwo(names, [left, right], remainder);
  }
}

/** NULL where the quotient does not fit, too. */
function remainder(left: Fragment, right: Fragment): Fragment {
  const fits = sql`(${right} <> -1 or ${left} > -9223372036854775808)`;
  return sql`case when ${right} <> 0 and ${fits} then ${left} % ${right} end`;
}

/** A numeric as a bigint, NULL when it does not fit. */
function checked(expression: Fragment): Fragment {
  return sql`${within(expression, -(2n ** 63n), 2n ** 63n - 1n)}::bigint`;
}

function doubleResult(
  names: Names,
  operator: "+" | "-" | "*" | "/",
  left: SqlValue,
  right: SqlValue,
): Fragment {
  // The planner folds constants even behind a guard, but not columns of the subquery.
  const columns = [left, right].map((value) => ({ ...value, simple: false }));
  return strict(names, columns, ([first, second]) => {
    const a = (first ?? left).sql;
    const b = (second ?? right).sql;
    switch (operator) {
      case "+":
        return addDoubles(a, b);
      case "-":
        return addDoubles(a, sql`(-${b})`);
      case "*":
        return multiplyDoubles(a, b);
      case "/":
        return divideDoubles(a, b);
    }
  });
}
