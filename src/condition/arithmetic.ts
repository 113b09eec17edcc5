import { joinBytes } from "./bytes.ts";
import { clash } from "./order.ts";
import { addTime, subtractTime } from "./time.ts";
import type { ArithmeticOperator } from "./tree.ts";
import { fault, listValue, typeOf } from "./value.ts";
import type { Outcome, Value } from "./value.ts";

const largestInt = 2n ** 63n - 1n;
const smallestInt = -(2n ** 63n);

/** A 64-bit int, or a fault if the value does not fit. */
export function checkedInt(value: bigint): Outcome {
  return value > largestInt || value < smallestInt ? fault("integer overflow") : value;
}

export function negate(value: Value): Outcome {
  if (typeof value === "bigint") return checkedInt(-value);
  if (typeof value === "number") return -value;
  return fault(`no such overload: -${typeOf(value)}`);
}

/** `left operator right`. Types never mix, except timestamps with durations. */
export function calculate(operator: ArithmeticOperator, left: Value, right: Value): Outcome {
  if (typeof left === "bigint" && typeof right === "bigint") {
    return calculateInt(operator, left, right);
  }
  const none = fault(clash(left, operator, right));
  if (typeof left === "number" && typeof right === "number") {
    return calculateDouble(operator, left, right) ?? none;
  }
  if (operator === "+") return concatenate(left, right) ?? addTime(left, right) ?? none;
  if (operator === "-") return subtractTime(left, right) ?? none;
  return none;
}

function calculateInt(operator: ArithmeticOperator, left: bigint, right: bigint): Outcome {
  switch (operator) {
    case "+":
      return checkedInt(left + right);
    case "-":
      return checkedInt(left - right);
    case "*":
      return checkedInt(left * right);
    case "/":
      return right === 0n ? fault("division by zero") : checkedInt(left / right);
    case "%":
      if (right === 0n) return fault("modulus by zero");
      // As in cel-go: the quotient, which the remainder belongs to, does not fit.
      return left === smallestInt && right === -1n ? fault("integer overflow") : left % right;
  }
}

/** IEEE 754, except that a zero divisor has no sign: Postgres does not show the sign of zeros. */
function calculateDouble(
  operator: ArithmeticOperator,
  left: number,
  right: number,
): number | undefined {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / (right === 0 ? 0 : right);
    case "%":
      return undefined;
  }
}

function concatenate(left: Value, right: Value): Value | undefined {
  if (typeof left === "string" && typeof right === "string") return left + right;
  if (typeof left !== "object" || typeof right !== "object") return undefined;
  if (left?.kind === "list" && right?.kind === "list") {
    return listValue([...left.items, ...right.items]);
  }
  if (left?.kind === "bytes" && right?.kind === "bytes") {
    return { kind: "bytes", data: joinBytes(left.data, right.data) };
  }
  return undefined;
}
