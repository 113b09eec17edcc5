import { must } from "../base/assert.ts";
import { quote } from "../base/quote.ts";
import type { AttributeType } from "../base/tuple.ts";
import { invalidField, missingField } from "./field.ts";

/** The messages that an Any may contain, by the last part of their type URL. */
const messages: ReadonlyMap<string, AttributeType> = new Map([
  ["base.v1.BooleanValue", "boolean"],
  ["base.v1.BooleanArrayValue", "boolean[]"],
  ["base.v1.StringValue", "string"],
  ["base.v1.StringArrayValue", "string[]"],
  ["base.v1.IntegerValue", "integer"],
  ["base.v1.IntegerArrayValue", "integer[]"],
  ["base.v1.DoubleValue", "double"],
  ["base.v1.DoubleArrayValue", "double[]"],
]);

/** The type of a value in an Any with this type URL. `field` is its path in the request. */
export function valueTypeOf(url: unknown, field: string): AttributeType {
  if (url === undefined || url === null || url === "") {
    throw missingField(field, "a type URL such as `type.googleapis.com/base.v1.BooleanValue`");
  }
  const type =
    typeof url === "string" ? messages.get(url.slice(url.lastIndexOf("/") + 1)) : undefined;
  if (type === undefined) {
    throw invalidField(
      field,
      `${quote(typeof url === "string" ? url : JSON.stringify(url))} is not a known type, expected \`type.googleapis.com/\` and one of ${[...messages.keys()].join(", ")}`,
    );
  }
  return type;
}

/** The type URL of an Any that contains a value of this type. */
export function typeUrlOf(type: AttributeType): string {
  const [message] = must(
    [...messages].find(([, known]) => known === type),
    `a message for ${type}`,
  );
  return `type.googleapis.com/${message}`;
}
