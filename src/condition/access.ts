import { quote } from "../base/quote.ts";
import { lookUp } from "./order.ts";
import { fault, isFault, typeOf } from "./value.ts";
import type { Outcome, Value } from "./value.ts";

/** `operand.field` */
export function selectField(operand: Outcome, field: string): Outcome {
  if (isFault(operand)) return operand;
  if (typeof operand !== "object" || operand?.kind !== "map") {
    return fault(`${typeOf(operand)} has no fields, so no ${quote(field)}`);
  }
  return entry(operand.get(field), `no such key: ${quote(field)}`);
}

/** `has(operand.field)`: whether a map has the key. A fault if the operand is not a map. */
export function hasField(operand: Outcome, field: string): Outcome {
  if (isFault(operand)) return operand;
  if (typeof operand !== "object" || operand?.kind !== "map") {
    return fault(`${typeOf(operand)} has no fields, so no ${quote(field)}`);
  }
  return operand.get(field) !== undefined;
}

/** `operand[index]` */
export function elementAt(operand: Value, index: Value): Outcome {
  if (typeof operand !== "object" || operand === null) return noIndex(operand, index);
  if (operand.kind === "map") return entry(lookUp(operand, index), "no such key");
  if (operand.kind !== "list") return noIndex(operand, index);
  // A whole double can be an index, because all numbers of `context.data` are doubles.
  const whole = typeof index === "bigint" || (typeof index === "number" && Number.isInteger(index));
  if (!whole) return noIndex(operand, index);
  const item = operand.items[Number(index)];
  return item === undefined ? fault(`index out of range: ${index}`) : item;
}

/** The value of a key. Null is a value: only a missing one is a fault. */
function entry(value: Value | undefined, message: string): Outcome {
  return value === undefined ? { ...fault(message), lacksKey: true } : value;
}

function noIndex(operand: Value, index: Value): Outcome {
  return fault(`no such overload: ${typeOf(operand)}[${typeOf(index)}]`);
}
